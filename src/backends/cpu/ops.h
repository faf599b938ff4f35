// CpuOps: the operations of backends/backend.h. Internal to the CPU backend.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/cpu/arena.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/rope_tables.h"
#include "backends/cpu/thread_pool.h"

namespace matador::cpu {

class CpuOps final : public Ops {
 public:
  CpuOps(const Kernels& kernels, ThreadPool& threads)
      : kernels_(kernels), threads_(threads), context_{kernels, threads, arena_} {}

  // Ends the lives of all tensors.
  void reset() { arena_.reset(); }

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

  std::vector<Tensor> linears(const Tensor& x, std::span<const Weight* const> weights) override;
  Tensor gated(const Tensor& gate, const Tensor& up, Act act) override;
  std::pair<Tensor, Tensor> add_norm(const Tensor& x, const Tensor& y, const Norm& norm,
                                     const Weight& w) override;
  void release_except(std::span<const Tensor> live) override;

 private:
  Tensor make(int64_t rows, int64_t cols);
  // body(row) for all rows, on several threads where rows of `cols` features are worth it.
  template <class Body>
  void for_rows(int64_t rows, int64_t cols, const Body& body) {
    constexpr int64_t kFeaturesPerItem = 16384;  // about 10 us of an elementwise operation
    const int64_t grain = std::max<int64_t>(1, kFeaturesPerItem / std::max<int64_t>(cols, 1));
    threads_.run((rows + grain - 1) / grain, [&](int64_t item, int) {
      const int64_t end = std::min(rows, (item + 1) * grain);
      for (int64_t row = item * grain; row < end; ++row) body(row);
    });
  }
  Tensor expert_inner(const Tensor& x, std::span<const Segment> segments,
                      const ExpertWeights& weights, const Expert& expert);
  void norm_row(const float* x, const Norm& norm, const Weight& w, int64_t cols, float* out) const;

  const Kernels& kernels_;
  ThreadPool& threads_;
  Arena arena_;
  MatmulContext context_;
  RopeTables ropes_;
  std::vector<Arena::Range> live_;
};

}  // namespace matador::cpu
