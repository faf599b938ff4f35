// Mixture of experts for any weight format: a warp finds one output feature of one route, in an
// order of sums that does not depend on the other routes.
#include "backends/cuda/kernels/format.cuh"
#include "backends/cuda/kernels/kernels.h"
#include "backends/routing.h"

namespace matador::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kRouteThreads = 32;

__global__ void route_kernel(Routing routing, View<const float> logits, const float* correction,
                             View<float> scores, View<int32_t> experts, View<float> weights,
                             int64_t tokens) {
  const int64_t t = int64_t{blockIdx.x} * kRouteThreads + threadIdx.x;
  if (t >= tokens) return;
  route(routing, logits.row(t), correction, scores.row(t), experts.row(t), weights.row(t));
}

// A row of blocks times x, by a warp; the sum is on every lane.
template <class F, class X>
__device__ float row_dot(const typename F::Block* blocks, const X* x, int64_t row_blocks,
                         float factor) {
  float sum = 0;
  for (int64_t i = threadIdx.x % 32; i < row_blocks; i += 32) {
    float weights[F::values];
    F::decode(blocks[i], weights);
    const X* from = x + i * F::values;
    for (int j = 0; j < F::values; ++j) sum = fmaf(weights[j], factor * load(from + j), sum);
  }
  return warp_sum(sum);
}

// A stack of matrices on the device.
template <class F>
struct Stack {
  const typename F::Block* blocks;
  const float* bias;  // or null
  int64_t rows, row_blocks;
};
template <class F>
Stack<F> stack(const Weight& w) {
  return {reinterpret_cast<const typename F::Block*>(w.data), w.bias, w.rows, w.cols / F::values};
}

// y[route] = expert_of(route) x[route / routes_per_row], x times the route's factor where there are
// factors.
template <class F, class X>
__global__ void expert_linear_kernel(View<const X> x, int routes_per_row, Stack<F> w,
                                     const int32_t* experts, const float* factors, View<X> y) {
  const int64_t row = int64_t{blockIdx.y} * kWarps + threadIdx.x / 32;
  const int64_t route = blockIdx.x;
  if (row >= w.rows) return;
  const int64_t at = experts[route] * w.rows + row;
  const float sum = row_dot<F>(w.blocks + at * w.row_blocks, x.row(route / routes_per_row),
                               w.row_blocks, factors != nullptr ? factors[route] : 1);
  if (threadIdx.x % 32 == 0) store(y.row(route) + row, w.bias != nullptr ? sum + w.bias[at] : sum);
}

// `kept` features of a head are copied behind its product.
template <class F, class X>
__global__ void linear_heads_kernel(View<const X> x, Stack<F> w, View<X> y, int64_t outputs,
                                    int64_t kept) {
  const int64_t output = int64_t{blockIdx.y} * kWarps + threadIdx.x / 32;
  if (output >= outputs) return;
  const int64_t head = output / (w.rows + kept), row = output % (w.rows + kept);
  const int64_t cols = w.row_blocks * F::values;
  const X* from = x.row(blockIdx.x) + head * (cols + kept);
  const float value = row < w.rows ? row_dot<F>(w.blocks + (head * w.rows + row) * w.row_blocks,
                                                from, w.row_blocks, 1)
                                   : load(from + cols + row - w.rows);
  if (threadIdx.x % 32 == 0) store(y.row(blockIdx.x) + output, value);
}

template <class X>
__global__ void limit_kernel(Expert expert, View<X> gate, View<X> up, int64_t cols) {
  for (int64_t i = threadIdx.x; i < cols; i += kThreads) {
    X* g = gate.row(blockIdx.x) + i;
    X* u = up.row(blockIdx.x) + i;
    float value = load(u);
    if (expert.limit > 0) {
      store(g, fminf(load(g), expert.limit));
      value = fminf(fmaxf(value, -expert.limit), expert.limit);
    }
    store(u, value + expert.up_offset);
  }
}

template <class X>
__global__ void combine_kernel(View<const X> results, const float* weights, int top_k, View<X> y,
                               int64_t cols) {
  for (int64_t i = threadIdx.x; i < cols; i += kThreads) {
    float sum = 0;
    for (int j = 0; j < top_k; ++j) {
      const int64_t route = int64_t{blockIdx.x} * top_k + j;
      const float weight = weights != nullptr ? weights[route] : 1;
      sum = fmaf(weight, load(results.row(route) + i), sum);
    }
    store(y.row(blockIdx.x) + i, sum);
  }
}

dim3 warp_grid(int64_t inputs, int64_t outputs) {
  return dim3(static_cast<unsigned>(inputs), static_cast<unsigned>(ceil_div(outputs, kWarps)));
}

}  // namespace

void route(const Tensor& logits, const Routing& routing, const float* correction,
           const Tensor& scores, const Tensor& experts, const Tensor& weights,
           cudaStream_t stream) {
  if (logits.rows == 0) return;
  const auto blocks = static_cast<unsigned>(ceil_div(logits.rows, kRouteThreads));
  route_kernel<<<blocks, kRouteThreads, 0, stream>>>(
      routing, view<const float>(logits), correction, view<float>(scores), view<int32_t>(experts),
      view<float>(weights), logits.rows);
  check_launch("route_kernel");
}

void expert_linear(const Tensor& x, const Weight& w, const Tensor& experts, const float* factors,
                   const Tensor& y, cudaStream_t stream) {
  if (y.rows == 0) return;
  with_format(*w.format, [&]<class F>() {
    with_type(x.dtype, [&]<class X>() {
      expert_linear_kernel<F, X><<<warp_grid(y.rows, w.rows), kThreads, 0, stream>>>(
          view<const X>(x), static_cast<int>(y.rows / x.rows), stack<F>(w),
          reinterpret_cast<const int32_t*>(experts.data), factors, view<X>(y));
    });
  });
  check_launch("expert_linear_kernel");
}

void linear_heads(const Tensor& x, const Weight& w, const Tensor& y, cudaStream_t stream) {
  if (y.rows == 0) return;
  with_format(*w.format, [&]<class F>() {
    with_type(x.dtype, [&]<class X>() {
      linear_heads_kernel<F, X><<<warp_grid(y.rows, y.cols), kThreads, 0, stream>>>(
          view<const X>(x), stack<F>(w), view<X>(y), y.cols, y.cols / w.count - w.rows);
    });
  });
  check_launch("linear_heads_kernel");
}

void limit(const Expert& expert, const Tensor& gate, const Tensor& up, cudaStream_t stream) {
  if (gate.rows == 0) return;
  with_type(gate.dtype, [&]<class X>() {
    limit_kernel<X><<<static_cast<unsigned>(gate.rows), kThreads, 0, stream>>>(
        expert, view<X>(gate), view<X>(up), gate.cols);
  });
  check_launch("limit_kernel");
}

void combine(const Tensor& results, const float* weights, const Tensor& y, cudaStream_t stream) {
  if (y.rows == 0) return;
  with_type(y.dtype, [&]<class X>() {
    combine_kernel<X><<<static_cast<unsigned>(y.rows), kThreads, 0, stream>>>(
        view<const X>(results), weights, static_cast<int>(results.rows / y.rows), view<X>(y),
        y.cols);
  });
  check_launch("combine_kernel");
}

}  // namespace matador::cuda
