// ReferenceOps: the operations of backends/backend.h as plain loops. Internal to the reference
// backend.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/backend.h"

namespace matador {

class ReferenceOps final : public Ops {
 public:
  // Ends the lives of all tensors.
  void clear() { arena_.clear(); }

  Tensor embed(const Weight& table, const Batch& batch, float scale) override;
  Tensor embed_positions(const Weight& table, const Batch& batch, int32_t offset) override;
  Tensor linear(const Tensor& x, const Weight& w) override;
  Tensor norm(const Tensor& x, const Norm& norm, const Weight& w) override;
  Tensor add(const Tensor& x, const Tensor& y, float scale) override;
  Tensor multiply(const Tensor& x, const Tensor& y) override;
  Tensor activate(const Tensor& x, Act act) override;
  Tensor clamp(const Tensor& x, float limit) override;
  void rope(Tensor& heads, int32_t head_dim, const Rope& rope, const Batch& batch) override;
  void store_kv(const KvLayer& kv, const Tensor& k, const Tensor& v, const Batch& batch) override;
  Tensor attend(const Tensor& q, const KvLayer& kv, const Attend& attend, const Batch& batch,
                const Weight* sinks) override;
  Routes route(const Tensor& logits, const Routing& routing, const Weight* correction) override;
  Tensor experts(const Tensor& x, const Routes& routes, const ExpertWeights& weights,
                 const Expert& expert) override;
  Tensor linear_heads(const Tensor& x, const Weight& w) override;
  Tensor concat(const Tensor& x, const Tensor& y) override;
  Tensor take(const Tensor& x, std::span<const int32_t> rows) override;
  Tensor scale_logits(const Tensor& x, float factor, float softcap) override;

 private:
  // f32.
  Tensor make(int64_t rows, int64_t cols);

  std::vector<std::unique_ptr<float[]>> arena_;
};

}  // namespace matador
