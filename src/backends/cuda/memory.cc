#include "backends/cuda/memory.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "backends/cuda/error.h"

namespace matador::cuda {
namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kChunkBytes = size_t{64} << 20;

void* allocate_device(size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    cudaGetLastError();
    throw std::runtime_error("out of GPU memory: " + std::to_string(bytes >> 20) +
                             " MiB asked for, " + std::to_string(free >> 20) + " of " +
                             std::to_string(total >> 20) + " MiB free");
  }
  check(status, "cudaMalloc");
  return data;
}

}  // namespace

DeviceMemory::DeviceMemory(size_t bytes)
    : data_(allocate_device(std::max<size_t>(bytes, 1))), bytes_(bytes) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() { cudaFree(data_); }

bool DeviceMemory::reserve(size_t bytes) {
  if (bytes <= bytes_) return false;
  *this = DeviceMemory();
  *this = DeviceMemory(std::bit_ceil(bytes));
  return true;
}

PinnedMemory::~PinnedMemory() { cudaFreeHost(data_); }

void PinnedMemory::reserve(size_t bytes) {
  if (bytes <= bytes_) return;
  cudaFreeHost(data_);
  data_ = nullptr;
  bytes_ = std::bit_ceil(bytes);
  check(cudaMallocHost(&data_, bytes_), "cudaMallocHost");
}

std::byte* Arena::take(Chunk& chunk, size_t bytes) {
  auto range = std::find_if(chunk.ranges.begin(), chunk.ranges.end(),
                            [&](const Range& r) { return !r.used && r.bytes >= bytes; });
  if (range == chunk.ranges.end()) return nullptr;
  std::byte* begin = range->begin;
  const Range rest{begin + bytes, range->bytes - bytes, false};
  *range = {begin, bytes, true};
  if (rest.bytes > 0) chunk.ranges.insert(range + 1, rest);
  return begin;
}

std::byte* Arena::allocate(size_t bytes) {
  bytes = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  for (Chunk& chunk : chunks_) {
    if (std::byte* found = take(chunk, bytes)) return found;
  }
  Chunk chunk{DeviceMemory(std::max(bytes, kChunkBytes)), {}};
  chunk.ranges.push_back({chunk.memory.as<std::byte>(), chunk.memory.size(), false});
  chunks_.push_back(std::move(chunk));
  return take(chunks_.back(), bytes);
}

void Arena::merge_free(Chunk& chunk) {
  std::vector<Range> merged;
  for (const Range& range : chunk.ranges) {
    if (!merged.empty() && !merged.back().used && !range.used) {
      merged.back().bytes += range.bytes;
    } else {
      merged.push_back(range);
    }
  }
  chunk.ranges = std::move(merged);
}

void Arena::release_except(const std::vector<const std::byte*>& live) {
  const auto is_live = [&](const Range& range) {
    return std::any_of(live.begin(), live.end(), [&](const std::byte* address) {
      return address >= range.begin && address < range.begin + range.bytes;
    });
  };
  for (Chunk& chunk : chunks_) {
    for (Range& range : chunk.ranges) range.used = range.used && is_live(range);
    merge_free(chunk);
  }
}

void Arena::clear() { release_except({}); }

}  // namespace matador::cuda
