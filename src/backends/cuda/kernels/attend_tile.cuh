// The inner part of attention on tensor cores, shared by prefill and decode: a warp's sixteen query
// rows against a tile of cached tokens in shared memory, with an online softmax (FlashAttention-2,
// arXiv 2307.08691).
//
// The context is cut into splits of kSplitTokens at fixed positions. A row's splits are computed
// alone and merged in order, by whichever kernel; a token that a row may not see adds exactly
// nothing. So a row's result does not depend on what it is computed with. The roundings are spelled
// out where a compiler could choose between them.
#pragma once

#include "backends/cuda/kernels/kernels.h"
#include "backends/cuda/kernels/kv.cuh"
#include "backends/cuda/kernels/mma.cuh"

namespace matador::cuda {

// Shapes for heads of kDim features. Rows in shared memory are padded so that eight of them start
// at different banks.
template <int kDim>
struct AttendShape {
  static constexpr int kTile = kDim <= 128 ? 64 : 32;
  static constexpr int kStride = kDim + 8;
  static constexpr int kTileElements = kTile * kStride;
  static constexpr int kQueryElements = 16 * kStride;  // of a warp
};

// How scores are made: softcap(scale * q k), in units of log2.
struct Scores {
  float scale, softcap;
  int32_t window;

  __device__ float of(float product) const {
    float score = __fmul_rn(product, scale);
    if (softcap > 0) score = __fmul_rn(softcap, tanhf(__fdiv_rn(score, softcap)));
    return __fmul_rn(score, 1.4426950408889634F);
  }
  __device__ bool sees(int position, int other) const {
    return other <= position && (window == 0 || other > position - window);
  }
};

// The softmax of a row so far: sum_i exp2(score_i - highest) v_i, and the same without v.
// A thread has the rows g and g + 8 of the warp's sixteen.
template <int kDim>
struct RowSums {
  float sum[kDim / 8][4];
  float highest[2];
  float total[2];  // this thread's columns; add_up makes it the row's

  __device__ void clear() {
#pragma unroll
    for (auto& tile : sum) {
#pragma unroll
      for (float& value : tile) value = 0;
    }
    highest[0] = highest[1] = -INFINITY;
    total[0] = total[1] = 0;
  }
  __device__ void add_up() {
#pragma unroll
    for (float& value : total) {
      value = __fadd_rn(value, __shfl_xor_sync(0xFFFFFFFFU, value, 1));
      value = __fadd_rn(value, __shfl_xor_sync(0xFFFFFFFFU, value, 2));
    }
  }
};

// The factors that bring two softmaxes to one reference.
struct Merge {
  float highest, left, right;

  __device__ Merge(float left_highest, float right_highest) {
    highest = fmaxf(left_highest, right_highest);
    const float reference = highest == -INFINITY ? 0 : highest;
    left = exp2f(__fsub_rn(left_highest, reference));
    right = exp2f(__fsub_rn(right_highest, reference));
  }
  __device__ float operator()(float left_sum, float right_sum) const {
    return __fmaf_rn(right_sum, right, __fmul_rn(left_sum, left));
  }
};

template <class K>
__device__ __forceinline__ uint32_t pack_pair(float low, float high) {
  K pair[2];
  store(&pair[0], low);
  store(&pair[1], high);
  return *reinterpret_cast<const uint32_t*>(pair);
}

// scores = q k^T.
template <class K, int kDim>
__device__ __forceinline__ void multiply_keys(const K* q, const K* keys,
                                              float (&scores)[AttendShape<kDim>::kTile / 8][4]) {
  using Shape = AttendShape<kDim>;
  const int lane = threadIdx.x % 32;
  const K* q_row = q + (lane % 16) * Shape::kStride + lane / 16 * 8;
  const K* k_row = keys + (lane % 8 + lane / 16 * 8) * Shape::kStride + lane / 8 % 2 * 8;
#pragma unroll
  for (int k = 0; k < kDim; k += 16) {
    FragmentA a;
    load_matrices(a.x, q_row + k);
#pragma unroll
    for (int tile = 0; tile < Shape::kTile / 8; tile += 2) {
      uint32_t b[4];
      load_matrices(b, k_row + tile * 8 * Shape::kStride + k);
      mma<K>(scores[tile], a, {b[0], b[1]});
      mma<K>(scores[tile + 1], a, {b[2], b[3]});
    }
  }
}

// sums += scores v, the scores being shares by now.
template <class K, int kDim>
__device__ __forceinline__ void multiply_values(
    const float (&scores)[AttendShape<kDim>::kTile / 8][4], const K* values,
    float (&sums)[kDim / 8][4]) {
  using Shape = AttendShape<kDim>;
  const int lane = threadIdx.x % 32;
  const K* v_row = values + (lane % 16) * Shape::kStride + lane / 16 * 8;
#pragma unroll
  for (int k = 0; k < Shape::kTile / 8; k += 2) {
    const FragmentA a = {{pack_pair<K>(scores[k][0], scores[k][1]),
                          pack_pair<K>(scores[k][2], scores[k][3]),
                          pack_pair<K>(scores[k + 1][0], scores[k + 1][1]),
                          pack_pair<K>(scores[k + 1][2], scores[k + 1][3])}};
#pragma unroll
    for (int tile = 0; tile < kDim / 8; tile += 2) {
      uint32_t b[4];
      load_matrices_transposed(b, v_row + k * 8 * Shape::kStride + tile * 8);
      mma<K>(sums[tile], a, {b[0], b[1]});
      mma<K>(sums[tile + 1], a, {b[2], b[3]});
    }
  }
}

// Adds a tile whose first token is at position `first`. `positions` are those of the thread's two
// rows, -1 where there is no row.
template <class K, int kDim>
__device__ __forceinline__ void attend_tile(const K* q, const K* keys, const K* values, int first,
                                            const int (&positions)[2], const Scores& rule,
                                            RowSums<kDim>& rows) {
  constexpr int kTiles = AttendShape<kDim>::kTile / 8;
  float scores[kTiles][4] = {};
  multiply_keys<K, kDim>(q, keys, scores);
  float highest[2] = {rows.highest[0], rows.highest[1]};
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int other = first + tile * 8 + threadIdx.x % 4 * 2 + i % 2;
      scores[tile][i] = rule.sees(positions[i / 2], other) ? rule.of(scores[tile][i]) : -INFINITY;
      highest[i / 2] = fmaxf(highest[i / 2], scores[tile][i]);
    }
  }
  float reference[2];
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    highest[row] = fmaxf(highest[row], __shfl_xor_sync(0xFFFFFFFFU, highest[row], 1));
    highest[row] = fmaxf(highest[row], __shfl_xor_sync(0xFFFFFFFFU, highest[row], 2));
    const Merge merge(rows.highest[row], highest[row]);
    reference[row] = highest[row] == -INFINITY ? 0 : highest[row];
    rows.highest[row] = highest[row];
    rows.total[row] = __fmul_rn(rows.total[row], merge.left);
#pragma unroll
    for (int tile = 0; tile < kDim / 8; ++tile) {
      rows.sum[tile][2 * row] = __fmul_rn(rows.sum[tile][2 * row], merge.left);
      rows.sum[tile][2 * row + 1] = __fmul_rn(rows.sum[tile][2 * row + 1], merge.left);
    }
  }
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      scores[tile][i] = exp2f(__fsub_rn(scores[tile][i], reference[i / 2]));
      rows.total[i / 2] = __fadd_rn(rows.total[i / 2], scores[tile][i]);
    }
  }
  multiply_values<K, kDim>(scores, values, rows.sum);
}

// Starts copying the keys and values of a tile, zeros from `context` on, with kThreads threads.
template <class K, int kDim, int kThreads>
__device__ __forceinline__ void load_tile(const KvView<const K>& kv, const int32_t* table, int head,
                                          int first, int context, K* keys, K* values) {
  using Shape = AttendShape<kDim>;
  constexpr int kChunks = kDim / 8;  // of a row, 16 bytes each
  const int64_t value_offset = kv.value_offset();
#pragma unroll 4
  for (int i = threadIdx.x % kThreads; i < Shape::kTile * kChunks; i += kThreads) {
    const int row = i / kChunks, column = i % kChunks * 8;
    const int position = first + row;
    const bool valid = position < context;
    const int block = valid ? table[position / kv.block_size] : 0;
    const K* key = kv.key(block, head, valid ? position % kv.block_size : 0) + column;
    copy_async(keys + row * Shape::kStride + column, key, valid);
    copy_async(values + row * Shape::kStride + column, key + value_offset, valid);
  }
  commit_copies();
}

// A query row to shared memory in the cache's type, by one warp; zeros where `from` is null.
template <class K, int kDim>
__device__ __forceinline__ void load_query(const __nv_bfloat16* from, K* to) {
  for (int i = threadIdx.x % 32; i < kDim; i += 32) {
    store(to + i, from != nullptr ? load(from + i) : 0);
  }
}

inline Scores scores_of(const Attend& attend) {
  return {attend.scale, attend.softcap, attend.window};
}

// Calls visit.operator()<kDim>() where there is a kernel for this head size; else false.
template <class Visitor>
bool with_head_dim(int head_dim, Visitor&& visit) {
  switch (head_dim) {
    case 64: visit.template operator()<64>(); return true;
    case 80: visit.template operator()<80>(); return true;
    case 96: visit.template operator()<96>(); return true;
    case 128: visit.template operator()<128>(); return true;
    case 256: visit.template operator()<256>(); return true;
    default: return false;
  }
}

// Likewise for both types of 16-bit cache.
template <class Visitor>
void with_half_type(KvType type, Visitor&& visit) {
  if (type == KvType::f16) {
    visit.template operator()<__half>();
  } else {
    visit.template operator()<__nv_bfloat16>();
  }
}

}  // namespace matador::cuda
