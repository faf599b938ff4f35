#include "backends/reference/reference.h"

#include <cstring>
#include <memory>
#include <utility>

#include "backends/reference/reference_ops.h"

namespace matador {
namespace {

class ReferenceBuffer final : public Buffer {
 public:
  explicit ReferenceBuffer(size_t size)
      : size_(size), bytes_(std::make_unique<std::byte[]>(size)) {}
  void* data() const override { return bytes_.get(); }
  size_t size() const override { return size_; }

 private:
  size_t size_;
  std::unique_ptr<std::byte[]> bytes_;
};

class ReferenceBackend final : public Backend {
 public:
  DeviceInfo info() const override { return {"reference"}; }

  Weight load(HostWeight host) override {
    Weight weight;
    weight.format = host.format;
    weight.count = host.count;
    weight.rows = host.rows;
    weight.cols = host.cols;
    weight.data = host.data;
    weight.owner = std::move(host.owner);
    if (!host.bias.empty()) {
      auto bias = std::make_shared<const std::vector<float>>(std::move(host.bias));
      weight.bias = bias->data();
      weight.bias_owner = std::move(bias);
    }
    return weight;
  }

  std::unique_ptr<Buffer> allocate(size_t bytes) override {
    return std::make_unique<ReferenceBuffer>(bytes);
  }

  int64_t kv_block_bytes(const KvLayer& kv) const override {
    const int64_t parts = kv.latent > 0 ? 1 : 2;
    return parts * bytes_of(kv.type) * kv.block_size * kv.num_kv_heads * kv.head_dim;
  }

  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void plan(const Batch&) override {}

  void run(StepKey, const Program& program) override {
    ops_.clear();
    program(ops_);
  }

  std::span<const float> to_host(const Tensor& tensor) override {
    host_.clear();
    for (int64_t i = 0; i < tensor.rows; ++i) {
      const float* row = tensor.row<const float>(i);
      host_.insert(host_.end(), row, row + tensor.cols);
    }
    return host_;
  }

 private:
  ReferenceOps ops_;
  std::vector<float> host_;
};

}  // namespace

std::shared_ptr<Backend> make_reference_backend() { return std::make_shared<ReferenceBackend>(); }

}  // namespace matador
