#include "backends/cuda/upload.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>

#include "backends/cuda/error.h"
#include "backends/cuda/memory.h"

namespace matador::cuda {
namespace {

constexpr size_t kLanes = 8;
constexpr size_t kPieceBytes = size_t{4} << 20;

}  // namespace

// One thread's stream and its two pieces of page-locked memory: one is read while the other is
// sent.
class Uploader::Lane {
 public:
  Lane() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    for (Piece& piece : pieces_) {
      piece.memory.reserve(kPieceBytes);
      check(cudaEventCreateWithFlags(&piece.sent, cudaEventDisableTiming), "cudaEventCreate");
    }
  }
  ~Lane() {
    for (Piece& piece : pieces_) cudaEventDestroy(piece.sent);
    cudaStreamDestroy(stream_);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Takes pieces until none is left.
  void work(std::byte* to, const std::byte* from, size_t bytes, std::atomic<size_t>& next) {
    for (size_t turn = 0;; ++turn) {
      const size_t begin = kPieceBytes * next++;
      if (begin >= bytes) break;
      const size_t size = std::min(kPieceBytes, bytes - begin);
      Piece& piece = pieces_[turn % 2];
      check(cudaEventSynchronize(piece.sent), "sending a weight");
      std::memcpy(piece.memory.data(), from + begin, size);
      check(cudaMemcpyAsync(to + begin, piece.memory.data(), size, cudaMemcpyHostToDevice, stream_),
            "sending a weight");
      check(cudaEventRecord(piece.sent, stream_), "cudaEventRecord");
    }
    check(cudaStreamSynchronize(stream_), "sending a weight");
  }

 private:
  struct Piece {
    PinnedMemory memory;
    cudaEvent_t sent = nullptr;
  };
  cudaStream_t stream_ = nullptr;
  Piece pieces_[2];
};

Uploader::Uploader(int device) : device_(device) {}
Uploader::~Uploader() = default;

void Uploader::upload(void* to, const void* from, size_t bytes) {
  const size_t wanted = std::clamp<size_t>(bytes / kPieceBytes, 1, kLanes);
  while (lanes_.size() < wanted) lanes_.push_back(std::make_unique<Lane>());
  std::atomic<size_t> next = 0;
  std::vector<std::future<void>> working;
  for (size_t i = 0; i < wanted; ++i) {
    working.push_back(std::async(std::launch::async, [&, lane = lanes_[i].get()] {
      check(cudaSetDevice(device_), "cudaSetDevice");
      lane->work(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes, next);
    }));
  }
  for (std::future<void>& done : working) done.wait();
  for (std::future<void>& done : working) done.get();
}

}  // namespace matador::cuda
