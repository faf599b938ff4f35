// UploadingBackend: lets the conformance tests give a device's operations tensors of the host. What
// an operation reads and no operation made is copied to the device first.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/backend.h"

namespace matador::testing {

class UploadingOps final : public Ops {
 public:
  UploadingOps(Ops& ops, Backend& backend, std::vector<std::unique_ptr<Buffer>>& uploads)
      : ops_(ops), backend_(backend), uploads_(uploads) {}

  Tensor embed(const Weight& table, const Batch& batch, float scale) override {
    plan(batch);
    return made(ops_.embed(table, batch, scale));
  }
  Tensor embed_positions(const Weight& table, const Batch& batch, int32_t offset) override {
    plan(batch);
    return made(ops_.embed_positions(table, batch, offset));
  }
  Tensor linear(const Tensor& x, const Weight& w) override { return made(ops_.linear(up(x), w)); }
  Tensor norm(const Tensor& x, const Norm& norm, const Weight& w) override {
    return made(ops_.norm(up(x), norm, w));
  }
  Tensor add(const Tensor& x, const Tensor& y, float scale) override {
    return made(ops_.add(up(x), up(y), scale));
  }
  Tensor multiply(const Tensor& x, const Tensor& y) override {
    return made(ops_.multiply(up(x), up(y)));
  }
  Tensor clamp(const Tensor& x, float limit) override { return made(ops_.clamp(up(x), limit)); }
  Tensor activate(const Tensor& x, Act act) override { return made(ops_.activate(up(x), act)); }
  void rope(Tensor& heads, int32_t head_dim, const Rope& rope, const Batch& batch) override {
    plan(batch);
    heads = made(up(heads));
    ops_.rope(heads, head_dim, rope, batch);
  }
  void store_kv(const KvLayer& kv, const Tensor& k, const Tensor& v, const Batch& batch) override {
    plan(batch);
    ops_.store_kv(kv, up(k), up(v), batch);
  }
  Tensor attend(const Tensor& q, const KvLayer& kv, const Attend& attend, const Batch& batch,
                const Weight* sinks) override {
    plan(batch);
    return made(ops_.attend(up(q), kv, attend, batch, sinks));
  }
  Routes route(const Tensor& logits, const Routing& routing, const Weight* correction) override {
    const Routes routes = ops_.route(up(logits), routing, correction);
    return {made(routes.experts), made(routes.weights)};
  }
  Tensor experts(const Tensor& x, const Routes& routes, const ExpertWeights& weights,
                 const Expert& expert) override {
    return made(ops_.experts(up(x), {up(routes.experts), up(routes.weights)}, weights, expert));
  }
  Tensor linear_heads(const Tensor& x, const Weight& w) override {
    return made(ops_.linear_heads(up(x), w));
  }
  Tensor concat(const Tensor& x, const Tensor& y) override {
    return made(ops_.concat(up(x), up(y)));
  }
  Tensor take(const Tensor& x, std::span<const int32_t> rows) override {
    return made(ops_.take(up(x), rows));
  }
  Tensor scale_logits(const Tensor& x, float factor, float softcap) override {
    return made(ops_.scale_logits(up(x), factor, softcap));
  }
  std::vector<Tensor> linears(const Tensor& x, std::span<const Weight* const> weights) override {
    std::vector<Tensor> results = ops_.linears(up(x), weights);
    for (const Tensor& result : results) made(result);
    return results;
  }
  Tensor gated(const Tensor& gate, const Tensor& other, Act act) override {
    return made(ops_.gated(up(gate), up(other), act));
  }
  std::pair<Tensor, Tensor> add_norm(const Tensor& x, const Tensor& y, const Norm& norm,
                                     const Weight& w) override {
    const auto [normed, sum] = ops_.add_norm(up(x), up(y), norm, w);
    return {made(normed), made(sum)};
  }
  void release_except(std::span<const Tensor> live) override { ops_.release_except(live); }

 private:
  static size_t bytes_of(const Tensor& tensor) {
    return static_cast<size_t>((tensor.rows - 1) * tensor.stride + tensor.cols) *
           size_of(tensor.dtype);
  }
  Tensor made(const Tensor& tensor) {
    made_.push_back({tensor.data, bytes_of(tensor)});
    return tensor;
  }
  Tensor up(const Tensor& tensor) {
    for (const std::span<std::byte>& range : made_) {
      if (tensor.data >= range.data() && tensor.data < range.data() + range.size()) return tensor;
    }
    uploads_.push_back(backend_.allocate(bytes_of(tensor)));
    Tensor copy = tensor;
    copy.data = static_cast<std::byte*>(uploads_.back()->data());
    backend_.copy(copy.data, tensor.data, bytes_of(tensor));
    return copy;
  }
  void plan(const Batch& batch) {
    if (planned_ == &batch) return;
    backend_.plan(batch);
    planned_ = &batch;
  }

  Ops& ops_;
  Backend& backend_;
  std::vector<std::unique_ptr<Buffer>>& uploads_;
  std::vector<std::span<std::byte>> made_;
  const Batch* planned_ = nullptr;
};

class UploadingBackend final : public Backend {
 public:
  explicit UploadingBackend(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}

  DeviceInfo info() const override { return backend_->info(); }
  Weight load(HostWeight weight) override { return backend_->load(std::move(weight)); }
  std::unique_ptr<Buffer> allocate(size_t bytes) override { return backend_->allocate(bytes); }
  int64_t kv_block_bytes(const KvLayer& kv) const override { return backend_->kv_block_bytes(kv); }
  void copy(void* to, const void* from, size_t bytes) override { backend_->copy(to, from, bytes); }
  void plan(const Batch& batch) override { backend_->plan(batch); }
  void run(StepKey key, const Program& program) override {
    uploads_.clear();
    backend_->run(key, [&](Ops& ops) {
      UploadingOps uploading(ops, *backend_, uploads_);
      program(uploading);
    });
  }
  std::span<const float> to_host(const Tensor& tensor) override {
    return backend_->to_host(tensor);
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::vector<std::unique_ptr<Buffer>> uploads_;
};

}  // namespace matador::testing
