// x W^T for any weight format, built on the formats' decode. A warp finds one output feature of up
// to kTokens tokens: each lane sums every 32nd block of the row, then the lanes are added up. A
// token's sum has the same order however many tokens there are.
#include "backends/cuda/kernels/format.cuh"
#include "backends/cuda/kernels/kernels.h"

namespace matador::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kTokens = 8;

template <class F, class X>
__global__ void generic_linear_kernel(View<const X> x, const typename F::Block* blocks,
                                      const float* bias, View<X> y, int64_t rows, int64_t cols,
                                      int64_t tokens) {
  const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  const int64_t first = int64_t{blockIdx.y} * kTokens;
  if (row >= rows) return;
  const int64_t row_blocks = cols / F::values;
  float sums[kTokens] = {};
  for (int64_t i = threadIdx.x % 32; i < row_blocks; i += 32) {
    float weights[F::values];
    F::decode(blocks[row * row_blocks + i], weights);
#pragma unroll
    for (int t = 0; t < kTokens; ++t) {
      if (first + t >= tokens) break;
      const X* from = x.row(first + t) + i * F::values;
      for (int j = 0; j < F::values; ++j) sums[t] = fmaf(weights[j], load(from + j), sums[t]);
    }
  }
#pragma unroll
  for (int t = 0; t < kTokens; ++t) {
    const float sum = warp_sum(sums[t]);
    if (threadIdx.x % 32 != 0 || first + t >= tokens) continue;
    store(y.row(first + t) + row, bias != nullptr ? sum + bias[row] : sum);
  }
}

}  // namespace

void generic_linear(const Tensor& x, const Weight& w, const Tensor& y, cudaStream_t stream) {
  if (x.rows == 0) return;
  with_format(*w.format, [&]<class F>() {
    with_type(x.dtype, [&]<class X>() {
      const dim3 grid(static_cast<unsigned>(ceil_div(w.rows, kWarps)),
                      static_cast<unsigned>(ceil_div(x.rows, kTokens)));
      generic_linear_kernel<F, X><<<grid, kThreads, 0, stream>>>(
          view<const X>(x), reinterpret_cast<const typename F::Block*>(w.data), w.bias, view<X>(y),
          w.rows, w.cols, x.rows);
    });
  });
  check_launch("generic_linear_kernel");
}

}  // namespace matador::cuda
