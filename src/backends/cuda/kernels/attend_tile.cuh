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
#include "backends/cuda/kernels/pack.cuh"

namespace matador::cuda {

// Shapes for heads of kDim features. Rows in shared memory are padded so that eight of them start
// at different banks; `offset` is where a row's eight features from `column` on are, in elements.
template <int kDim>
struct AttendShape {
  static constexpr int kTile = kDim <= 128 ? 64 : 32;
  static constexpr int kStride = kDim + 8;
  static constexpr int kTileElements = kTile * kStride;
  static constexpr int kQueryElements = 16 * kStride;  // of a warp
  static __device__ int offset(int row, int column) { return row * kStride + column; }
};

// How a product of query and key becomes a score in units of log2: times `factor`, after the soft
// cap where there is one.
struct Scores {
  float factor;  // positive
  float scale, softcap;
  int32_t window;

  __device__ float capped(float product) const {
    return tanhf(__fdiv_rn(__fmul_rn(product, scale), softcap));
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

// 2^x to two units of the last place; 0 for minus infinity.
__device__ __forceinline__ float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The factors that bring two softmaxes to one reference.
struct Merge {
  float highest, left, right;

  __device__ Merge(float left_highest, float right_highest) {
    highest = fmaxf(left_highest, right_highest);
    const float reference = highest == -INFINITY ? 0 : highest;
    left = fast_exp2(__fsub_rn(left_highest, reference));
    right = fast_exp2(__fsub_rn(right_highest, reference));
  }
  __device__ float operator()(float left_sum, float right_sum) const {
    return __fmaf_rn(right_sum, right, __fmul_rn(left_sum, left));
  }
};

// Adds a finished split to what is merged so far, in which `merged(tile, i)` is a sum's place.
template <int kDim, class Merged>
__device__ __forceinline__ void merge_split(RowSums<kDim>& split, float (&highest)[2],
                                            float (&total)[2], Merged merged) {
  split.add_up();
  const Merge merges[2] = {{highest[0], split.highest[0]}, {highest[1], split.highest[1]}};
  // Where no row's reference moves, a product with one is left out.
  const bool still = __all_sync(0xFFFFFFFFU, merges[0].left == 1 && merges[1].left == 1);
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const Merge& merge = merges[row];
    highest[row] = merge.highest;
    total[row] = merge(total[row], split.total[row]);
#pragma unroll
    for (int tile = 0; tile < kDim / 8; ++tile) {
#pragma unroll
      for (int i = 2 * row; i < 2 * row + 2; ++i) {
        float& sum = merged(tile, i);
        sum = still ? __fmaf_rn(split.sum[tile][i], merge.right, sum)
                    : merge(sum, split.sum[tile][i]);
      }
    }
  }
  split.clear();
}

template <class K>
__device__ __forceinline__ uint32_t pack_pair(float low, float high) {
  if constexpr (std::is_same_v<K, __half>) {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
  }
}

// scores = q k^T; the keys lie as Layout says.
template <class K, int kDim, class Layout>
__device__ __forceinline__ void multiply_keys(const K* q, const K* keys,
                                              float (&scores)[AttendShape<kDim>::kTile / 8][4]) {
  using Shape = AttendShape<kDim>;
  const int lane = threadIdx.x % 32;
  const K* q_row = q + (lane % 16) * Shape::kStride + lane / 16 * 8;
  const int row = lane % 8 + lane / 16 * 8, column = lane / 8 % 2 * 8;
#pragma unroll
  for (int k = 0; k < kDim; k += 16) {
    FragmentA a;
    load_matrices(a.x, q_row + k);
#pragma unroll
    for (int tile = 0; tile < Shape::kTile / 8; tile += 2) {
      uint32_t b[4];
      load_matrices(b, keys + Layout::offset(row + tile * 8, column + k));
      mma<K>(scores[tile], a, {b[0], b[1]});
      mma<K>(scores[tile + 1], a, {b[2], b[3]});
    }
  }
}

// sums += scores v, the scores being shares by now.
template <class K, int kDim, class Layout>
__device__ __forceinline__ void multiply_values(
    const float (&scores)[AttendShape<kDim>::kTile / 8][4], const K* values,
    float (&sums)[kDim / 8][4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < AttendShape<kDim>::kTile / 8; k += 2) {
    const FragmentA a = {{pack_pair<K>(scores[k][0], scores[k][1]),
                          pack_pair<K>(scores[k][2], scores[k][3]),
                          pack_pair<K>(scores[k + 1][0], scores[k + 1][1]),
                          pack_pair<K>(scores[k + 1][2], scores[k + 1][3])}};
#pragma unroll
    for (int tile = 0; tile < kDim / 8; tile += 2) {
      uint32_t b[4];
      load_matrices_transposed(
          b, values + Layout::offset(lane % 16 + k * 8, lane / 16 * 8 + tile * 8));
      mma<K>(sums[tile], a, {b[0], b[1]});
      mma<K>(sums[tile + 1], a, {b[2], b[3]});
    }
  }
}

// Makes the scores of a tile into shares: caps and masks them, raises the rows' reference and
// brings their sums to it. The tile's first token is at position `first`; `positions` are those of
// the thread's two rows, -1 where there is no row.
template <int kDim>
__device__ __forceinline__ void weigh_scores(float (&scores)[AttendShape<kDim>::kTile / 8][4],
                                             int first, const int (&positions)[2],
                                             const Scores& rule, RowSums<kDim>& rows) {
  constexpr int kTiles = AttendShape<kDim>::kTile / 8;
  if (rule.softcap > 0) {
#pragma unroll
    for (auto& tile : scores) {
#pragma unroll
      for (float& score : tile) score = rule.capped(score);
    }
  }
  const int last = first + AttendShape<kDim>::kTile - 1;
  const bool sees_all = rule.sees(positions[0], first) && rule.sees(positions[0], last) &&
                        rule.sees(positions[1], first) && rule.sees(positions[1], last);
  if (!__all_sync(0xFFFFFFFFU, sees_all)) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int other = first + tile * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (!rule.sees(positions[i / 2], other)) scores[tile][i] = -INFINITY;
      }
    }
  }
  float highest[2] = {-INFINITY, -INFINITY};
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) highest[i / 2] = fmaxf(highest[i / 2], scores[tile][i]);
  }
  float reference[2], factor[2];
  bool moved = false;  // the reference, under sums that are not zero
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    highest[row] = fmaxf(highest[row], __shfl_xor_sync(0xFFFFFFFFU, highest[row], 1));
    highest[row] = fmaxf(highest[row], __shfl_xor_sync(0xFFFFFFFFU, highest[row], 2));
    highest[row] = fmaxf(__fmul_rn(highest[row], rule.factor), rows.highest[row]);
    reference[row] = highest[row] == -INFINITY ? 0 : highest[row];
    factor[row] = Merge(rows.highest[row], highest[row]).left;
    moved = moved || (rows.highest[row] != -INFINITY && highest[row] != rows.highest[row]);
    rows.highest[row] = highest[row];
  }
  if (__any_sync(0xFFFFFFFFU, moved)) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      rows.total[row] = __fmul_rn(rows.total[row], factor[row]);
#pragma unroll
      for (int tile = 0; tile < kDim / 8; ++tile) {
        rows.sum[tile][2 * row] = __fmul_rn(rows.sum[tile][2 * row], factor[row]);
        rows.sum[tile][2 * row + 1] = __fmul_rn(rows.sum[tile][2 * row + 1], factor[row]);
      }
    }
  }
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      scores[tile][i] = fast_exp2(__fmaf_rn(scores[tile][i], rule.factor, -reference[i / 2]));
      rows.total[i / 2] = __fadd_rn(rows.total[i / 2], scores[tile][i]);
    }
  }
}

// Adds a tile.
template <class K, int kDim, class Layout = AttendShape<kDim>>
__device__ __forceinline__ void attend_tile(const K* q, const K* keys, const K* values, int first,
                                            const int (&positions)[2], const Scores& rule,
                                            RowSums<kDim>& rows) {
  float scores[AttendShape<kDim>::kTile / 8][4] = {};
  multiply_keys<K, kDim, Layout>(q, keys, scores);
  weigh_scores<kDim>(scores, first, positions, rule, rows);
  multiply_values<K, kDim, Layout>(scores, values, rows.sum);
}

// Where a warp's share of a tile's rows lies in the cache: lane i has the rows i and i + 32.
template <int kRows>
struct RowOffsets {
  static constexpr int kPerLane = (kRows + 31) / 32;
  int64_t at[kPerLane];  // in elements; -1 where there is no such token

  // Rows from position `first` on; tokens from `context` on are not there.
  template <class K>
  __device__ RowOffsets(const KvView<const K>& kv, const int32_t* table, int head, int first,
                        int context) {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int position = first + i * 32 + static_cast<int>(threadIdx.x) % 32;
      at[i] = -1;
      if (position < context) {
        at[i] = kv.key_offset(table[position / kv.block_size], head, position % kv.block_size);
      }
    }
  }
  // Of row `row`, which may differ from lane to lane; called by the whole warp.
  __device__ int64_t of(int row) const {
    int64_t offset = __shfl_sync(0xFFFFFFFFU, at[0], row % 32);
    if constexpr (kPerLane > 1) {
      const int64_t other = __shfl_sync(0xFFFFFFFFU, at[1], row % 32);
      if (row >= 32) offset = other;
    }
    return offset;
  }
};

// Starts copying the keys and values of a tile, zeros where there are no tokens, each of kWarps
// warps its share of the rows.
template <class K, int kDim, int kWarps>
__device__ __forceinline__ void load_tile(
    const KvView<const K>& kv, const RowOffsets<AttendShape<kDim>::kTile / kWarps>& offsets,
    K* keys, K* values) {
  using Shape = AttendShape<kDim>;
  constexpr int kChunks = kDim / 8;  // of a row, 16 bytes each
  constexpr int kRows = Shape::kTile / kWarps;
  const int64_t value_offset = kv.value_offset();
  const int first_row = threadIdx.x / 32 % kWarps * kRows;
#pragma unroll
  for (int base = 0; base < kRows * kChunks; base += 32) {
    const int i = base + threadIdx.x % 32;
    const int row = i / kChunks, column = i % kChunks * 8;
    const int64_t offset = offsets.of(row);
    if (kRows * kChunks % 32 != 0 && row >= kRows) continue;
    const K* key = kv.blocks + (offset < 0 ? 0 : offset + column);
    const int at = (first_row + row) * Shape::kStride + column;
    copy_async(keys + at, key, offset >= 0);
    copy_async(values + at, key + (offset < 0 ? 0 : value_offset), offset >= 0);
  }
  commit_copies();
}

// Sixteen query rows to shared memory in the cache's type, by one warp; `row_of` gives where a row
// lies, null for zeros.
template <class K, int kDim, class RowOf>
__device__ __forceinline__ void load_queries(RowOf row_of, K* to) {
  constexpr int kChunks = kDim / 8;
#pragma unroll
  for (int base = 0; base < 16 * kChunks; base += 32) {
    const int i = base + threadIdx.x % 32;
    const int row = i / kChunks, column = i % kChunks * 8;
    const __nv_bfloat16* from = row_of(row);
    float values[8] = {};
    if (from != nullptr) load_pack<8>(from + column, values);
    store_pack<8>(to + row * AttendShape<kDim>::kStride + column, values);
  }
}

inline Scores scores_of(const Attend& attend) {
  constexpr float kLog2E = 1.4426950408889634F;
  const float factor = (attend.softcap > 0 ? attend.softcap : attend.scale) * kLog2E;
  return {factor, attend.scale, attend.softcap, attend.window};
}

// The head sizes there are kernels for.
constexpr bool has_head_dim(int head_dim) {
  return head_dim == 64 || head_dim == 80 || head_dim == 96 || head_dim == 128 || head_dim == 256;
}

// Calls visit.operator()<kDim>() for such a head size.
template <class Visitor>
void with_head_dim(int head_dim, Visitor&& visit) {
  switch (head_dim) {
    case 64: return visit.template operator()<64>();
    case 80: return visit.template operator()<80>();
    case 96: return visit.template operator()<96>();
    case 128: return visit.template operator()<128>();
    case 256: return visit.template operator()<256>();
    default: throw std::logic_error("no tensor-core attention for this head size");
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
