#include "backends/cpu/cpu.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "backends/cpu/attention.h"
#include "backends/cpu/ops.h"
#include "backends/cpu/packing.h"

namespace matador {
namespace {

using cpu::LoadedWeight;
using cpu::ThreadPool;

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

Isa checked(std::optional<Isa> wanted) {
  if (!wanted) return best_isa();
  const std::vector<Isa> isas = available_isas();
  if (std::find(isas.begin(), isas.end(), *wanted) == isas.end()) {
    throw std::runtime_error("this machine cannot run " + std::string(name_of(*wanted)) +
                             " instructions");
  }
  return *wanted;
}

// Pages of a mapped file that were read and will hardly be read again.
void give_back(const std::byte* first, const std::byte* last) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(first) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(last) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

// Memory that the system zeroes as it is first touched, so that unused cache costs nothing.
class CpuBuffer final : public Buffer {
 public:
  explicit CpuBuffer(size_t size) : size_(size) {
    if (size == 0) return;
    data_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~CpuBuffer() override {
    if (size_ > 0) munmap(data_, size_);
  }
  CpuBuffer(const CpuBuffer&) = delete;
  CpuBuffer& operator=(const CpuBuffer&) = delete;
  void* data() const override { return data_; }
  size_t size() const override { return size_; }

 private:
  size_t size_;
  void* data_ = nullptr;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const CpuOptions& options)
      : isa_(checked(options.isa)),
        threads_(options.threads > 0 ? options.threads : usable_cores()),
        ops_(cpu::kernels_for(isa_), threads_) {}

  DeviceInfo info() const override {
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const int threads = threads_.threads();
    return {.name = "cpu (" + std::string(name_of(isa_)) + ", " + std::to_string(threads) +
                    (threads == 1 ? " thread)" : " threads)"),
            .memory_total = page * static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)),
            .memory_free = page * static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)),
            .step_tokens = 256};
  }

  Weight load(HostWeight host) override {
    Weight weight;
    weight.format = host.format;
    weight.count = host.count;
    weight.rows = host.rows;
    weight.cols = host.cols;
    weight.data = host.data;
    weight.owner = std::move(host.owner);
    weight.precision = host.precision;
    if (!host.bias.empty()) {
      auto bias = std::make_shared<const std::vector<float>>(std::move(host.bias));
      weight.bias = bias->data();
      weight.bias_owner = std::move(bias);
    }
    auto loaded = std::make_shared<LoadedWeight>();
    if (host.count * host.rows == 1) {
      loaded->vector.resize(static_cast<size_t>(host.cols));
      cpu::decode_rows(weight, 0, 1, loaded->vector.data());
    }
    const std::optional<cpu::StripKind> kind = cpu::strip_kind_of(*host.format);
    if (kind && (!cpu::is_quantised(*kind) || host.precision == Precision::fast)) {
      loaded->packed =
          cpu::pack(*kind, weight, threads_, [&](const std::byte* begin, const std::byte* end) {
            if (host.mapped) give_back(begin, end);
          });
    }
    weight.packed = std::move(loaded);
    return weight;
  }

  std::unique_ptr<Buffer> allocate(size_t bytes) override {
    return std::make_unique<CpuBuffer>(bytes);
  }
  int64_t kv_block_bytes(const KvLayer& kv) const override { return cpu::kv_block_bytes(kv); }
  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void plan(const Batch&) override {}

  void run(StepKey, const Program& program) override {
    ops_.reset();
    const cpu::ThreadPool::Awake awake(threads_);
    program(ops_);
  }

  std::span<const float> to_host(const Tensor& tensor) override {
    if (tensor.stride == tensor.cols || tensor.rows <= 1) {
      return {tensor.row<const float>(0), static_cast<size_t>(tensor.rows * tensor.cols)};
    }
    host_.clear();
    for (int64_t i = 0; i < tensor.rows; ++i) {
      const float* row = tensor.row<const float>(i);
      host_.insert(host_.end(), row, row + tensor.cols);
    }
    return host_;
  }

 private:
  Isa isa_;
  ThreadPool threads_;
  cpu::CpuOps ops_;
  std::vector<float> host_;  // rows that lay apart
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace matador
