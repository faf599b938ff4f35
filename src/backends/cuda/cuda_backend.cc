#include <cuda_runtime_api.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "backends/cuda/cuda.h"
#include "backends/cuda/cuda_ops.h"
#include "backends/cuda/error.h"
#include "backends/cuda/graph.h"
#include "backends/cuda/kernels/kernels.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/step_timer.h"
#include "backends/cuda/upload.h"

namespace matador {
namespace cuda {
namespace {

// Selects the device for the calling thread before any member touches it.
struct Device {
  explicit Device(int device) : index(device) {
    check(cudaSetDevice(index), "cudaSetDevice");
    check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { cudaStreamDestroy(stream); }

  int index;
  cudaDeviceProp properties{};
  cudaStream_t stream = nullptr;
};

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const CudaOptions& options)
      : graphs_enabled_(options.graphs),
        device_(options.device),
        uploader_(options.device),
        ops_(device_.stream, {device_.properties.major >= 8, options.reproducible,
                              device_.properties.sharedMemPerBlockOptin}) {}
  ~CudaBackend() override { cudaStreamSynchronize(device_.stream); }

  DeviceInfo info() const override;
  Weight load(HostWeight host) override;
  Weight make_random(HostWeight shape, uint64_t seed) override;
  std::unique_ptr<Buffer> allocate(size_t bytes) override;
  int64_t kv_block_bytes(const KvLayer& kv) const override {
    const int64_t parts = kv.latent > 0 ? 1 : 2;
    return parts * bytes_of(kv.type) * kv.block_size * kv.num_kv_heads * kv.head_dim;
  }
  void copy(void* to, const void* from, size_t bytes) override;
  void plan(const Batch& batch) override;
  void run(StepKey key, const Program& program) override;
  bool draws() const override { return true; }
  DrawResults take_draws() override { return ops_.drawn().take(); }
  double busy_seconds() override { return timer_.seconds(); }
  std::span<const float> to_host(const Tensor& tensor) override;

 private:
  std::shared_ptr<DeviceMemory> upload(const void* data, size_t bytes);
  void set_bias(Weight& weight, const std::vector<float>& bias);
  void run_eagerly(const Program& program);
  void run_or_replay(const Program& program);

  bool graphs_enabled_;
  Device device_;
  Uploader uploader_;
  StepTimer timer_;
  CudaOps ops_;
  std::map<GraphKey, StepGraph> graphs_;
  Draws draws_;  // of the planned batch
  PinnedMemory host_;
};

DeviceInfo CudaBackend::info() const {
  check(cudaSetDevice(device_.index), "cudaSetDevice");
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {.name = "cuda:" + std::to_string(device_.index) + " (" + device_.properties.name + ")",
          .memory_total = total,
          .memory_free = free,
          .asynchronous = true,
          .own_memory = true,
          .kv_type = KvType::bf16};
}

std::shared_ptr<DeviceMemory> CudaBackend::upload(const void* data, size_t bytes) {
  auto memory = std::make_shared<DeviceMemory>(bytes);
  uploader_.upload(memory->data(), data, bytes);
  return memory;
}

Weight CudaBackend::load(HostWeight host) {
  check(cudaSetDevice(device_.index), "cudaSetDevice");
  Weight weight;
  weight.format = host.format;
  weight.count = host.count;
  weight.rows = host.rows;
  weight.cols = host.cols;
  weight.precision = host.precision;
  std::shared_ptr<DeviceMemory> memory;
  const int64_t rows = host.count * host.rows;
  const bool is_vector = rows == 1 && !host.is_table;
  if (is_vector) {  // norms read f32
    std::vector<float> values(static_cast<size_t>(host.cols));
    host.format->decode(host.data, values.data(), host.cols);
    weight.format = find_format("f32");
    memory = upload(values.data(), values.size() * sizeof(float));
  } else {
    memory = upload(host.data, static_cast<size_t>(rows * host.format->bytes(host.cols)));
  }
  weight.data = memory->as<const std::byte>();
  if (!is_vector && host.precision == Precision::fast && host.format->block_values == 1 &&
      host.format->name != "bf16") {
    const size_t values = static_cast<size_t>(rows * host.cols);
    auto rounded = std::make_shared<DeviceMemory>(values * size_of(DType::bf16));
    decode_weight(weight, {rounded->as<std::byte>(), DType::bf16, rows, host.cols, host.cols},
                  device_.stream);
    check(cudaStreamSynchronize(device_.stream), "rounding a weight");
    weight.format = find_format("bf16");
    weight.data = rounded->as<const std::byte>();
    memory = std::move(rounded);
  }
  weight.owner = std::move(memory);
  set_bias(weight, host.bias);
  return weight;
}

void CudaBackend::set_bias(Weight& weight, const std::vector<float>& bias) {
  if (bias.empty()) return;
  auto memory = upload(bias.data(), bias.size() * sizeof(float));
  weight.bias = memory->as<const float>();
  weight.bias_owner = std::move(memory);
}

Weight CudaBackend::make_random(HostWeight shape, uint64_t seed) {
  if (shape.format->name != "bf16") return Backend::make_random(std::move(shape), seed);
  check(cudaSetDevice(device_.index), "cudaSetDevice");
  Weight weight;
  weight.format = shape.format;
  weight.count = shape.count;
  weight.rows = shape.rows;
  weight.cols = shape.cols;
  weight.precision = shape.precision;
  const int64_t rows = weight.count * weight.rows;
  auto memory = std::make_shared<DeviceMemory>(static_cast<size_t>(rows * weight.row_bytes()));
  fill_random({memory->as<std::byte>(), DType::bf16, rows, weight.cols, weight.cols}, seed,
              device_.stream);
  weight.data = memory->as<const std::byte>();
  weight.owner = std::move(memory);
  set_bias(weight, shape.bias);
  return weight;
}

std::unique_ptr<Buffer> CudaBackend::allocate(size_t bytes) {
  check(cudaSetDevice(device_.index), "cudaSetDevice");
  auto memory = std::make_unique<DeviceMemory>(bytes);
  check(cudaMemsetAsync(memory->data(), 0, bytes, device_.stream), "cudaMemset");
  return memory;
}

void CudaBackend::copy(void* to, const void* from, size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, device_.stream), "cudaMemcpy");
}

void CudaBackend::plan(const Batch& batch) {
  check(cudaSetDevice(device_.index), "cudaSetDevice");
  const bool batch_moved = ops_.batch().upload(batch, device_.stream);
  ops_.reserve_partials();
  const bool partials_moved = ops_.take_partials_moved();
  const bool drawn_moved = ops_.drawn().reserve(batch.draws);
  if (batch_moved || partials_moved || drawn_moved) graphs_.clear();
  if (ops_.batch().needs_drawn()) {
    resolve_tokens(ops_.batch().token_ids(), batch.num_tokens(), ops_.drawn().output().tokens,
                   device_.stream);
  }
  draws_ = batch.draws;
}

void CudaBackend::run_eagerly(const Program& program) {
  ops_.begin(true);
  program(ops_);
}

void CudaBackend::run(StepKey, const Program& program) {
  timer_.begin(device_.stream);
  run_or_replay(program);
  timer_.end(device_.stream);
  if (!draws_.draws.empty()) ops_.drawn().send(draws_, device_.stream);
}

void CudaBackend::run_or_replay(const Program& program) {
  if (!graphs_enabled_ || !ops_.batch().only_decodes()) return run_eagerly(program);
  StepGraph& graph = graphs_[ops_.batch().key()];
  if (graph.ready()) {
    graph.launch(device_.stream);
    ops_.begin(false);
    program(ops_);
  } else if (graph.wanted()) {
    graph.capture(device_.stream, [&] { run_eagerly(program); });
    graph.launch(device_.stream);
  } else {
    run_eagerly(program);
    graph.set_wanted(ops_.capturable());
  }
}

std::span<const float> CudaBackend::to_host(const Tensor& tensor) {
  Tensor from = tensor;
  if (tensor.dtype != DType::f32) {
    from = ops_.make(tensor.rows, tensor.cols, DType::f32);
    convert(tensor, from, device_.stream);
  }
  const size_t row_bytes = static_cast<size_t>(from.cols) * sizeof(float);
  host_.reserve(row_bytes * static_cast<size_t>(from.rows));
  if (from.rows > 0) {
    check(cudaMemcpy2DAsync(host_.data(), row_bytes, from.data,
                            static_cast<size_t>(from.stride) * sizeof(float), row_bytes,
                            static_cast<size_t>(from.rows), cudaMemcpyDeviceToHost, device_.stream),
          "copying results");
  }
  check(cudaStreamSynchronize(device_.stream), "a step");
  return {reinterpret_cast<const float*>(host_.data()), static_cast<size_t>(from.rows * from.cols)};
}

}  // namespace
}  // namespace cuda

std::string cuda_problem(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return std::string("CUDA says: ") + cudaGetErrorString(status);
  if (device < count) return "";
  return "this machine has " + std::to_string(count) + " CUDA devices, numbered from 0";
}

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options) {
  return std::make_unique<cuda::CudaBackend>(options);
}

}  // namespace matador
