// Decode attention's splits: what one leaves for the kernel that merges them.
#pragma once

#include "backends/cuda/kernels/attend_tile.cuh"

namespace matador::cuda {

template <int kDim>
constexpr int kTilesOfSplit = kSplitTokens / AttendShape<kDim>::kTile;

// Per task and head: kDim sums, then the highest score and the total.
template <int kDim>
struct Partial {
  float* data;
  __device__ Partial(float* partials, int64_t task, int num_heads, int head)
      : data(partials + (task * num_heads + head) * (kDim + 2)) {}
};

__device__ __forceinline__ const int32_t* words_of(const BatchArrays& batch) {
  return reinterpret_cast<const int32_t*>(batch.header);
}

__device__ __forceinline__ bool out_of_window(int first, int position, int window) {
  return window > 0 && first + kSplitTokens <= position - window + 1;
}

template <int kDim>
__device__ void store_partial(RowSums<kDim>& rows, float* partials, int64_t task, int num_heads,
                              int first_head, int group) {
  rows.add_up();
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = threadIdx.x % 32 / 4 + 8 * i;
    if (row >= group) continue;
    float* out = Partial<kDim>(partials, task, num_heads, first_head + row).data;
#pragma unroll
    for (int tile = 0; tile < kDim / 8; ++tile) {
      const int column = tile * 8 + threadIdx.x % 4 * 2;
      out[column] = rows.sum[tile][2 * i];
      out[column + 1] = rows.sum[tile][2 * i + 1];
    }
    if (threadIdx.x % 4 == 0) {
      out[kDim] = rows.highest[i];
      out[kDim + 1] = rows.total[i];
    }
  }
}

}  // namespace matador::cuda
