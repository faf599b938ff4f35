// Tiles of the paged cache by the bulk copy engine: to it, the cache is one matrix with a row for
// each block, key or value, head and token.
#pragma once

#include <algorithm>

#include "backends/cuda/kernels/tma.cuh"
#include "backends/params.h"

namespace matador::cuda {

// kTile tokens' keys or values in shared memory: boxes of kBoxColumns features, swizzled.
template <int kDim, int kTile>
struct BoxedTile {
  static constexpr int kBoxes = kDim / kBoxColumns;
  static constexpr int kBoxBytes = kTile * kBoxColumns * 2;
  static constexpr int kBytes = kBoxes * kBoxBytes;

  // Of eight features, in elements.
  static __device__ int offset(int row, int column) {
    const int chunk = column % kBoxColumns / 8 ^ row % 8;
    return column / kBoxColumns * (kBoxBytes / 2) + row * kBoxColumns + chunk * 8;
  }
};

struct KvBoxes {
  CUtensorMap map;
  int32_t num_heads, block_size, box_rows;

  static bool fit(const KvLayer& kv) {
    const int64_t rows = int64_t{2} * kv.num_kv_heads * kv.block_size;
    return kv.type == KvType::bf16 && kv.head_dim % kBoxColumns == 0 && kv.block_size % 8 == 0 &&
           (64 % kv.block_size == 0 || kv.block_size % 64 == 0) &&
           kv.block_bytes == rows * kv.head_dim * 2 && rows * kv.num_blocks < INT32_MAX;
  }
  static KvBoxes of(const KvLayer& kv) {
    const int box_rows = std::min(kv.block_size, 64);
    const int64_t rows = int64_t{2} * kv.num_blocks * kv.num_kv_heads * kv.block_size;
    return {
        box_map({static_cast<std::byte*>(kv.blocks), DType::bf16, rows, kv.head_dim, kv.head_dim},
                box_rows),
        kv.num_kv_heads, kv.block_size, box_rows};
  }

  // The place in a tile of this lane's box: lanes take keys and values in turn.
  __device__ int lane_row() const { return threadIdx.x % 32 / 2 * box_rows; }
  // The block of the lane's box in a tile of `rows` tokens from position `first` on.
  __device__ int lane_block(const int32_t* table, int first, int rows) const {
    return lane_row() < rows ? table[(first + lane_row()) / block_size] : 0;
  }
  // Asks for the tile's keys and values, by a whole warp, each lane a box and its `block`;
  // `barrier` ends its phase when all are there.
  template <class Tile>
  __device__ void load(int block, int head, int first, int rows, std::byte* keys, std::byte* values,
                       Barrier& barrier) const {
    const int lane = threadIdx.x % 32;
    const int boxes = (rows + box_rows - 1) / box_rows * 2 * Tile::kBoxes;
    const int box_bytes = box_rows * kBoxColumns * 2;
    if (lane == 0) barrier.arrive_expecting(boxes * box_bytes);
    __syncwarp();
    if (lane_row() >= rows) return;
    const int offset = (first + lane_row()) % block_size;
    const int row = ((block * 2 + lane % 2) * num_heads + head) * block_size + offset;
    std::byte* const to = (lane % 2 == 0 ? keys : values) + lane / 2 * box_bytes;
#pragma unroll
    for (int box = 0; box < Tile::kBoxes; ++box) {
      load_box(to + box * Tile::kBoxBytes, map, box * kBoxColumns, row, barrier, kEvictFirst);
    }
  }
};

// Zeros the values of a tile from `row` on, by a warp: whatever lies behind a context, a share of
// nothing must add nothing.
template <class Tile, int kTile>
__device__ void clear_values(std::byte* values, int row) {
  for (; row < kTile; ++row) {
#pragma unroll
    for (int box = 0; box < Tile::kBoxes; ++box) {
      auto* const words =
          reinterpret_cast<uint32_t*>(values + box * Tile::kBoxBytes + row * kBoxColumns * 2);
      words[threadIdx.x % 32] = 0;
    }
  }
  fence_shared_writes();
  __syncwarp();
}

}  // namespace matador::cuda
