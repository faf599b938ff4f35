// Mixture of experts and per-head projections of CudaOps. The choice of experts stays on the
// device, and every shape follows from the number of tokens, so that steps can be replayed.
#include "backends/cuda/cuda_ops.h"
#include "backends/cuda/kernels/kernels.h"

namespace matador::cuda {

Routes CudaOps::route(const Tensor& logits, const Routing& routing, const Weight* correction) {
  Tensor exact = logits;
  if (logits.dtype != DType::f32) {
    exact = make(logits.rows, logits.cols, DType::f32);
    if (launch_) convert(logits, exact, stream_);
  }
  const Routes routes{make(logits.rows, routing.top_k, DType::i32),
                      make(logits.rows, routing.top_k, DType::f32)};
  const Tensor scores = make(logits.rows, routing.num_experts, DType::f32);
  const auto* bias =
      correction != nullptr ? reinterpret_cast<const float*>(correction->data) : nullptr;
  if (launch_) cuda::route(exact, routing, bias, scores, routes.experts, routes.weights, stream_);
  return routes;
}

Tensor CudaOps::experts(const Tensor& x, const Routes& routes, const ExpertWeights& weights,
                        const Expert& expert) {
  const int64_t rows = x.rows * routes.experts.cols;
  const auto* shares = reinterpret_cast<const float*>(routes.weights.data);
  const float* factors = expert.weigh_input ? shares : nullptr;
  const auto project = [&](const Tensor& from, const Weight& w, const float* of_inputs) {
    const Tensor y = make(rows, w.rows, x.dtype);
    if (launch_) expert_linear(from, w, routes.experts, of_inputs, y, stream_);
    return y;
  };
  Tensor inner = project(x, *weights.up, factors);
  if (weights.gate == nullptr) {
    inner = activate(inner, expert.act);
  } else {
    const Tensor gate = project(x, *weights.gate, factors);
    if (launch_) limit(expert, gate, inner, stream_);
    inner = gated(gate, inner, expert.act);
  }
  const Tensor results = project(inner, *weights.down, nullptr);
  const Tensor y = make(x.rows, results.cols, x.dtype);
  if (launch_) combine(results, expert.weigh_input ? nullptr : shares, y, stream_);
  return y;
}

Tensor CudaOps::linear_heads(const Tensor& x, const Weight& w) {
  const int64_t kept = x.cols / w.count - w.cols;
  const Tensor y = make(x.rows, w.count * (w.rows + kept), x.dtype);
  if (launch_) cuda::linear_heads(x, w, y, stream_);
  return y;
}

}  // namespace matador::cuda
