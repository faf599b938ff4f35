// What the sampling kernel is built from: one block of threads looks at one row of logits.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace matador::cuda {

constexpr int kSampleThreads = 1024;
constexpr int kSampleWarps = kSampleThreads / 32;
constexpr float kBannedLogit = -__builtin_huge_valf();

// An integer that orders as the float does; -0 is 0. Of finite floats and infinities.
__device__ __forceinline__ uint32_t order_key(float x) {
  const uint32_t bits = __float_as_uint(__fadd_rn(x, 0.0F));
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

// exp(x) for x <= 0, with the bits that the host's sampler gets (engine/logits.cc): the same
// polynomial, each operation rounded by itself.
__device__ __forceinline__ float host_exp(float x) {
  const float clamped = x < -87.0F ? -87.0F : x;
  float n = __fadd_rn(__fmul_rn(clamped, 1.44269504F), 12582912.0F);
  const int32_t exponent = static_cast<int32_t>(__float_as_uint(n) << 23);
  n = __fadd_rn(n, -12582912.0F);
  float r = __fadd_rn(clamped, -__fmul_rn(n, 0.693359375F));
  r = __fadd_rn(r, __fmul_rn(n, 2.12194440e-4F));
  float p = 1.9875691500e-4F;
  p = __fadd_rn(__fmul_rn(p, r), 1.3981999507e-3F);
  p = __fadd_rn(__fmul_rn(p, r), 8.3334519073e-3F);
  p = __fadd_rn(__fmul_rn(p, r), 4.1665795894e-2F);
  p = __fadd_rn(__fmul_rn(p, r), 1.6666665459e-1F);
  p = __fadd_rn(__fmul_rn(p, r), 5.0000001201e-1F);
  p = __fadd_rn(__fadd_rn(__fmul_rn(__fmul_rn(p, r), r), r), 1.0F);
  return x >= -87.0F ? __int_as_float(__float_as_int(p) + exponent) : 0;
}

constexpr float kWeightOne = 0x1p45F;

// A row to draw from: a logit's weight is exp(scale * (logit - max)) in fixed point. 2^18 weights
// of at most 1 fit 63 bits.
struct WeightedRow {
  const float* x;
  int32_t size;
  float max;
  float scale;

  __device__ uint64_t weight(float logit) const {
    const float w = host_exp(__fmul_rn(__fadd_rn(logit, -max), scale));
    return __float2ull_rn(__fmul_rn(w, kWeightOne));
  }
};

// The tokens that may be drawn: those above `key`, and of those at it the first `ties`.
struct Bar {
  uint32_t key;
  uint32_t ties;
};

template <class T>
__device__ __forceinline__ T warp_total(T value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xFFFFFFFFU, value, lane);
  return value;
}

// The sum of all threads' values, in every thread.
template <class T>
__device__ T block_total(T value, T* shared /* [kSampleWarps] */) {
  value = warp_total(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_total(shared[threadIdx.x % 32]);
}

// The greatest of all threads' values, in every thread.
__device__ __forceinline__ uint64_t block_max(uint64_t value, uint64_t* shared) {
  const auto warp_max = [](uint64_t v) {
    for (int lane = 16; lane > 0; lane /= 2) {
      const uint64_t other = __shfl_xor_sync(0xFFFFFFFFU, v, lane);
      v = other > v ? other : v;
    }
    return v;
  };
  value = warp_max(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_max(shared[threadIdx.x % 32]);
}

// Order of tokens as one number: higher logits first, then lower ids. 0 is below all.
__device__ __forceinline__ uint64_t place_of(float logit, int32_t token) {
  return uint64_t{order_key(logit)} << 32 | (0x7FFFFFFFU - static_cast<uint32_t>(token));
}
__device__ __forceinline__ int32_t token_of(uint64_t place) {
  return static_cast<int32_t>(0x7FFFFFFFU - static_cast<uint32_t>(place & 0xFFFFFFFFU));
}

}  // namespace matador::cuda
