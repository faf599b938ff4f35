// CudaOps: the operations of backends/backend.h on a stream. Internal to the CUDA backend.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/cuda/cublaslt.h"
#include "backends/cuda/device_batch.h"
#include "backends/cuda/drawn.h"
#include "backends/cuda/kernels/kernels.h"
#include "backends/cuda/memory.h"

namespace matador::cuda {

class CudaOps final : public Ops {
 public:
  struct Features {
    bool tensor_cores;
    bool reproducible;    // as in CudaOptions
    size_t shared_bytes;  // the most shared memory a block may have
  };
  CudaOps(cudaStream_t stream, Features features);

  // Begins a step. Without `launch` the operations only say where their results lie, which is all
  // that a replayed graph needs: it computes them there.
  void begin(bool launch);
  // False where the step since `begin` did what a graph cannot repeat.
  bool capturable() const { return capturable_; }

  DeviceBatch& batch() { return batch_; }
  Drawn& drawn() { return drawn_; }
  // Makes room for the planned batch's decode attention.
  void reserve_partials();
  // Whether that room has moved since the last call, so that graphs captured before are void.
  bool take_partials_moved() { return std::exchange(partials_moved_, false); }

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
  void draw(const Tensor& logits, const Draws& draws) override;
  void release_except(std::span<const Tensor> live) override;

  Tensor make(int64_t rows, int64_t cols, DType dtype);

 private:
  void reserve_stream_workspace();
  bool is_dense(const Tensor& x, const Weight& w) const;
  Tensor as_bf16(const Tensor& x);
  // The most tokens of one `few`, and those it takes even where there is cuBLASLt.
  int64_t few_tokens() const { return hopper_ ? kStreamTokens : kSkinnyTokens; }
  int64_t best_for_few() const { return hopper_ ? 64 : kSkinnyTokens; }
  void few(const Tensor& x, std::span<const Weight* const> weights, std::span<const Tensor> ys);
  void dense(const Tensor& x, const Weight& w, const Tensor& y);
  void decoded(const Tensor& x, const Weight& w, const Tensor& y);

  cudaStream_t stream_;
  Features features_;
  bool launch_ = true;
  bool capturable_ = true;
  std::unique_ptr<CublasLt> cublas_;
  bool hopper_;
  DeviceMemory stream_memory_;
  StreamWorkspace stream_workspace_;
  DeviceBatch batch_;
  Drawn drawn_;
  Arena arena_;
  DeviceMemory partials_;
  bool partials_moved_ = false;
  size_t partial_floats_ = 0;  // the most that a task of any layer needs
};

}  // namespace matador::cuda
