// Pack: consecutive values that are read or written in one access of at most 16 bytes.
#pragma once

#include "backends/cuda/kernels/element.cuh"

namespace matador::cuda {

template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Values {
  T at[kCount];
};

// kCount values as f32; kCount * sizeof(T) may be twice 16 bytes, which takes two accesses.
template <int kCount, class T>
__device__ __forceinline__ void load_pack(const T* from, float (&values)[kCount]) {
  constexpr int kStep = kCount * sizeof(T) > 16 ? kCount / 2 : kCount;
#pragma unroll
  for (int i = 0; i < kCount; i += kStep) {
    const auto pack = *reinterpret_cast<const Values<T, kStep>*>(from + i);
#pragma unroll
    for (int j = 0; j < kStep; ++j) values[i + j] = load(&pack.at[j]);
  }
}

template <int kCount, class T>
__device__ __forceinline__ void store_pack(T* to, const float (&values)[kCount]) {
  constexpr int kStep = kCount * sizeof(T) > 16 ? kCount / 2 : kCount;
#pragma unroll
  for (int i = 0; i < kCount; i += kStep) {
    Values<T, kStep> pack;
#pragma unroll
    for (int j = 0; j < kStep; ++j) store(&pack.at[j], values[i + j]);
    *reinterpret_cast<Values<T, kStep>*>(to + i) = pack;
  }
}

// Whether the rows of a tensor can be read eight values at a time.
inline bool has_packs(const Tensor& tensor) {
  return tensor.cols % 8 == 0 && tensor.stride % 8 == 0 &&
         reinterpret_cast<uintptr_t>(tensor.data) % 16 == 0;
}

}  // namespace matador::cuda
