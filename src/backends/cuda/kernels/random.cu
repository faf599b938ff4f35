#include <algorithm>

#include "backends/cuda/kernels/element.cuh"
#include "backends/cuda/kernels/kernels.h"
#include "backends/random_weight.h"

namespace matador::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void random_kernel(__nv_bfloat16* y, int64_t count, uint64_t seed) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    store(y + i, random_weight(seed, static_cast<uint64_t>(i)));
  }
}

}  // namespace

void fill_random(const Tensor& y, uint64_t seed, cudaStream_t stream) {
  const int64_t count = y.rows * y.stride;
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(ceil_div(count, kThreads), 4096));
  random_kernel<<<blocks, kThreads, 0, stream>>>(reinterpret_cast<__nv_bfloat16*>(y.data), count,
                                                 seed);
  check_launch("random_kernel");
}

}  // namespace matador::cuda
