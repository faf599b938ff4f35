// Reading and writing activations as f32, whatever they are stored as.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <stdexcept>

#include "backends/cuda/error.h"
#include "core/tensor.h"

namespace matador::cuda {

__device__ __forceinline__ float load(const float* x) { return *x; }
__device__ __forceinline__ float load(const __nv_bfloat16* x) { return __bfloat162float(*x); }
__device__ __forceinline__ float load(const __half* x) { return __half2float(*x); }
__device__ __forceinline__ void store(float* y, float value) { *y = value; }
__device__ __forceinline__ void store(__nv_bfloat16* y, float value) {
  *y = __float2bfloat16_rn(value);
}
__device__ __forceinline__ void store(__half* y, float value) { *y = __float2half_rn(value); }

// As if stored and read again.
template <class T>
__device__ __forceinline__ float rounded(float value) {
  T stored;
  store(&stored, value);
  return load(&stored);
}

// A matrix in a kernel's arguments.
template <class T>
struct View {
  T* data;
  int64_t stride;
  __device__ T* row(int64_t i) const { return data + i * stride; }
};
template <class T>
View<T> view(const Tensor& tensor) {
  return {reinterpret_cast<T*>(tensor.data), tensor.stride};
}

// Calls visit.operator()<T>() for the type of an activation.
template <class Visitor>
void with_type(DType dtype, Visitor&& visit) {
  switch (dtype) {
    case DType::f32: return visit.template operator()<float>();
    case DType::bf16: return visit.template operator()<__nv_bfloat16>();
    default: throw std::logic_error("activations are f32 or bf16");
  }
}

inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

// Lets a kernel use `shared_bytes` of shared memory; how many of its blocks the device holds at
// once.
template <class Kernel>
unsigned resident_blocks(Kernel kernel, int threads, int shared_bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "cudaFuncSetAttribute");
  int device = 0, processors = 0, blocks = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<unsigned>(processors * blocks);
}

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

__device__ __forceinline__ float warp_sum(float value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xFFFFFFFFU, value, lane);
  return value;
}

}  // namespace matador::cuda
