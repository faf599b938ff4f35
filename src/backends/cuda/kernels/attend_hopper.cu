// Attention of sequences with several new tokens on Hopper (sm_90a), with the arithmetic of
// attend_tile.cuh: the same bits as attend_prefill.cu, by warpgroup products.
//
// A thread block takes a run of query rows, being the tokens of a sequence times the query heads of
// one KV head, 64 a warpgroup. One warp asks for the tiles of the context, page by page, as far
// ahead as there is room. A warpgroup multiplies the next tile's keys while it merges a split, and
// the others' products run while it weighs scores (after FlashAttention-3, arXiv 2407.08608).
#include "backends/cuda/kernels/attend_runs.cuh"
#include "backends/cuda/kernels/attend_tile.cuh"
#include "backends/cuda/kernels/kv_boxes.cuh"
#include "backends/cuda/kernels/wgmma.cuh"

namespace matador::cuda {
namespace {

constexpr int kGroupThreads = 128;
constexpr int kGroupRows = 64;

template <int kDim>
struct HopperShape {
  static constexpr int kGroups = 2;
  static constexpr int kThreads = (kGroups + 1) * kGroupThreads;
  static constexpr int kRows = kGroups * kGroupRows;
  static constexpr int kTile = AttendShape<kDim>::kTile;
  using Tile = BoxedTile<kDim, kTile>;  // of keys; values have the same
  static constexpr int kQueryBytes = kRows * kDim * 2;
  static constexpr int kStages = 4;
  static constexpr int kSharedBytes = kQueryBytes + kStages * 2 * Tile::kBytes + 1024;
};

struct Hopper {
  KvBoxes cache;
  View<const __nv_bfloat16> q;
  View<__nv_bfloat16> y;
  int32_t num_heads, num_kv_heads;
  Scores rule;
  BatchArrays batch;
  bool decodes_too;
};

// What a thread block computes: tiles [first, end) for a run of rows.
struct Span {
  Run run;
  int lowest;   // position of the run's first token
  int context;  // tokens to see
  int first, end;

  template <int kDim>
  static __device__ Span of(const Hopper& hopper) {
    const int group = hopper.num_heads / hopper.num_kv_heads;
    Span span;
    // The last runs have the longest contexts: they start first.
    span.run = find_run(hopper.batch, gridDim.x - 1 - blockIdx.x, HopperShape<kDim>::kRows / group,
                        hopper.decodes_too);
    span.lowest = hopper.batch.positions[span.run.first_token];
    span.context = span.lowest + span.run.num_tokens;
    const int window = hopper.rule.window;
    const int first_seen = window > 0 ? max(0, span.lowest - window + 1) : 0;
    span.first = first_seen / HopperShape<kDim>::kTile;
    span.end = (span.context + HopperShape<kDim>::kTile - 1) / HopperShape<kDim>::kTile;
    return span;
  }
};

template <int kDim>
struct Tiles {
  using Shape = HopperShape<kDim>;
  std::byte* bytes;
  Barrier* full;
  Barrier* empty;
  Barrier* landed;  // of the last tile, before its end is cleared

  __device__ std::byte* keys(int i) const {
    return bytes + i % Shape::kStages * 2 * Shape::Tile::kBytes;
  }
  __device__ std::byte* values(int i) const { return keys(i) + Shape::Tile::kBytes; }
  __device__ Barrier& filled(int i) const { return full[i % Shape::kStages]; }
  __device__ Barrier& freed(int i) const { return empty[i % Shape::kStages]; }
  static __device__ uint32_t parity(int i) { return i / Shape::kStages % 2; }
};

template <int kDim>
__device__ void load_tiles(const Hopper& hopper, const Span& span, const Tiles<kDim>& tiles) {
  using Shape = HopperShape<kDim>;
  const int32_t* table = reinterpret_cast<const int32_t*>(hopper.batch.header) +
                         hopper.batch.header->tables + hopper.batch.table_starts[span.run.sequence];
  for (int i = 0; i < span.end - span.first; ++i) {
    const int first = (span.first + i) * Shape::kTile;
    const int rows = min(Shape::kTile, span.context - first);
    const int block = hopper.cache.lane_block(table, first, rows);
    if (i >= Shape::kStages) tiles.freed(i).wait(Tiles<kDim>::parity(i) ^ 1);
    Barrier& barrier = rows == Shape::kTile ? tiles.filled(i) : *tiles.landed;
    hopper.cache.load<typename Shape::Tile>(block, blockIdx.y, first, rows, tiles.keys(i),
                                            tiles.values(i), barrier);
    if (rows == Shape::kTile) continue;
    barrier.wait(0);
    clear_values<typename Shape::Tile, Shape::kTile>(tiles.values(i), rows);
    if (threadIdx.x % 32 == 0) tiles.filled(i).arrive();
  }
}

// A warpgroup's query rows to shared memory, as a swizzled operand.
template <int kDim>
__device__ void load_group_queries(const Hopper& hopper, const Span& span, int group,
                                   std::byte* to) {
  constexpr int kChunks = kDim / 8;
  const int heads = hopper.num_heads / hopper.num_kv_heads;
  for (int i = threadIdx.x % kGroupThreads; i < kGroupRows * kChunks; i += kGroupThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    const int of_run = group * kGroupRows + row;
    uint4 values{0, 0, 0, 0};
    if (of_run / heads < span.run.num_tokens) {
      const int head = blockIdx.y * heads + of_run % heads;
      values = *reinterpret_cast<const uint4*>(hopper.q.row(span.run.first_token + of_run / heads) +
                                               int64_t{head} * kDim + chunk * 8);
    }
    std::byte* const box = to + chunk / 8 * kGroupRows * kBoxColumns * 2;
    *reinterpret_cast<uint4*>(box + row * 128 + (chunk % 8 ^ row % 8) * 16) = values;
  }
  fence_shared_writes();
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(kGroupThreads) : "memory");
}

template <int kDim>
struct GroupRows {
  static constexpr int kTiles = AttendShape<kDim>::kTile / 8;
  float scores[kTiles][4];
  RowSums<kDim> split;
  float merged[kDim / 8][4];
  float highest[2], total[2];
  int positions[2];

  __device__ void clear() {
    split.clear();
#pragma unroll
    for (auto& tile : merged) {
#pragma unroll
      for (float& value : tile) value = 0;
    }
    highest[0] = highest[1] = -INFINITY;
    total[0] = total[1] = 0;
  }

  // Starts scores = q k^T.
  __device__ __forceinline__ void start_scores(const std::byte* queries, const std::byte* keys) {
    using Shape = HopperShape<kDim>;
    begin_products();
#pragma unroll
    for (int k = 0; k < kDim / 16; ++k) {
      const uint64_t a = operand(queries + k / 4 * kGroupRows * kBoxColumns * 2);
      const uint64_t b = operand(keys + k / 4 * Shape::Tile::kBoxBytes);
      auto& sums = *reinterpret_cast<float(*)[kTiles * 4]>(scores);
      const uint64_t next = k % 4 * kNextSixteen;
      if (k == 0) {
        multiply_async<Shape::kTile, false>(sums, a, b);
      } else {
        multiply_async<Shape::kTile>(sums, a + next, b + next);
      }
    }
    commit_products();
  }

  // Starts split += shares v.
  __device__ __forceinline__ void start_values(const FragmentA (&shares)[kTiles / 2],
                                               const std::byte* values) {
    using Shape = HopperShape<kDim>;
    begin_products();
    const uint64_t b = transposed_operand<Shape::kTile>(values);
#pragma unroll
    for (int k = 0; k < kTiles / 2; ++k) {
      multiply_async<kDim>(*reinterpret_cast<float(*)[kDim / 2]>(split.sum), shares[k],
                           b + k * kNextSixteenRows);
    }
    commit_products();
  }

  __device__ __forceinline__ void pack_shares(FragmentA (&shares)[kTiles / 2]) const {
#pragma unroll
    for (int k = 0; k < kTiles / 2; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* pair = &scores[2 * k + i / 2][i % 2 * 2];
        shares[k].x[i] = pack_pair<__nv_bfloat16>(pair[0], pair[1]);
      }
    }
  }
};

template <int kDim>
__device__ __forceinline__ void attend_span(const Hopper& hopper, const Span& span,
                                            const Tiles<kDim>& tiles, const std::byte* queries,
                                            GroupRows<kDim>& rows) {
  using Shape = HopperShape<kDim>;
  const int count = span.end - span.first;
  const bool speaks = threadIdx.x % 32 == 0;
  FragmentA shares[GroupRows<kDim>::kTiles / 2];
  const auto weigh = [&](int i) {
    wait_products<0>();
    weigh_scores<kDim>(rows.scores, (span.first + i) * Shape::kTile, rows.positions, hopper.rule,
                       rows.split);
    rows.pack_shares(shares);
    rows.start_values(shares, tiles.values(i));
  };
  const auto merge = [&] {
    merge_split<kDim>(rows.split, rows.highest, rows.total,
                      [&](int of, int j) -> float& { return rows.merged[of][j]; });
  };
  tiles.filled(0).wait(0);
  rows.start_scores(queries, tiles.keys(0));
  for (int i = 0; i + 1 < count; ++i) {
    weigh(i);
    tiles.filled(i + 1).wait(Tiles<kDim>::parity(i + 1));
    rows.start_scores(queries, tiles.keys(i + 1));
    wait_products<1>();
    if (speaks) tiles.freed(i).arrive();
    if ((span.first + i + 1) * Shape::kTile % kSplitTokens == 0) merge();
  }
  weigh(count - 1);
  wait_products<0>();
  merge();
}

template <int kDim>
__device__ __forceinline__ void attend_group(const Hopper& hopper, const Span& span,
                                             const Tiles<kDim>& tiles, int group,
                                             std::byte* queries) {
  const int heads = hopper.num_heads / hopper.num_kv_heads;
  load_group_queries<kDim>(hopper, span, group, queries);
  GroupRows<kDim> rows;
  rows.clear();
  const int first_row =
      group * kGroupRows + threadIdx.x % kGroupThreads / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int token = (first_row + 8 * i) / heads;
    rows.positions[i] = token < span.run.num_tokens ? span.lowest + token : -1;
  }
  attend_span<kDim>(hopper, span, tiles, queries, rows);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (rows.positions[i] < 0) continue;
    const int row = first_row + 8 * i;
    __nv_bfloat16* out = hopper.y.row(span.run.first_token + row / heads) +
                         int64_t{blockIdx.y * heads + row % heads} * kDim;
#pragma unroll
    for (int tile = 0; tile < kDim / 8; ++tile) {
      const float* sum = &rows.merged[tile][2 * i];
      *reinterpret_cast<uint32_t*>(out + tile * 8 + threadIdx.x % 4 * 2) = pack_pair<__nv_bfloat16>(
          __fdiv_rn(sum[0], rows.total[i]), __fdiv_rn(sum[1], rows.total[i]));
    }
  }
}

template <int kDim>
__global__ void __launch_bounds__(HopperShape<kDim>::kThreads, 1)
    attend_hopper_kernel(const __grid_constant__ Hopper hopper) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Shape = HopperShape<kDim>;
  extern __shared__ std::byte shared[];
  __shared__ Barrier full[Shape::kStages], empty[Shape::kStages], landed;
  std::byte* const queries = shared + (1024 - shared_address(shared) % 1024) % 1024;
  const Tiles<kDim> tiles{queries + Shape::kQueryBytes, full, empty, &landed};
  if (threadIdx.x == 0) {
    for (int i = 0; i < Shape::kStages; ++i) {
      full[i].initialise(1);
      empty[i].initialise(Shape::kGroups * kGroupThreads / 32);
    }
    landed.initialise(1);
    fence_barriers();
  }
  __syncthreads();
  const Span span = Span::of<kDim>(hopper);
  const int group = threadIdx.x / kGroupThreads;
  if (group == Shape::kGroups) {
    release_registers<40>();
    if (threadIdx.x % kGroupThreads < 32) load_tiles<kDim>(hopper, span, tiles);
  } else {
    claim_registers<232>();
    attend_group<kDim>(hopper, span, tiles, group, queries + group * kGroupRows * kDim * 2);
  }
#endif
}

template <int kDim>
void launch(Hopper& hopper, const PrefillRows& rows, cudaStream_t stream) {
  using Shape = HopperShape<kDim>;
  const auto kernel = attend_hopper_kernel<kDim>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             Shape::kSharedBytes),
        "cudaFuncSetAttribute");
  const int tokens = Shape::kRows / (hopper.num_heads / hopper.num_kv_heads);
  const int runs = count_runs(rows.query_start, tokens, rows.decodes_too);
  if (runs == 0) return;
  const dim3 grid(static_cast<unsigned>(runs), static_cast<unsigned>(hopper.num_kv_heads));
  kernel<<<grid, Shape::kThreads, Shape::kSharedBytes, stream>>>(hopper);
  check_launch("attend_hopper_kernel");
}

}  // namespace

bool has_hopper_attend(const KvLayer& kv, const Attend& attend) {
  return KvBoxes::fit(kv) && (kv.head_dim == 64 || kv.head_dim == 128) &&
         attend.num_heads / attend.num_kv_heads <= kGroupRows;
}

void attend_hopper(const Tensor& q, const KvLayer& kv, const Attend& attend,
                   const BatchArrays& batch, const PrefillRows& rows, const Tensor& y,
                   cudaStream_t stream) {
  Hopper hopper{KvBoxes::of(kv),
                view<const __nv_bfloat16>(q),
                view<__nv_bfloat16>(y),
                attend.num_heads,
                attend.num_kv_heads,
                scores_of(attend),
                batch,
                rows.decodes_too};
  if (kv.head_dim == 64) {
    launch<64>(hopper, rows, stream);
  } else {
    launch<128>(hopper, rows, stream);
  }
}

}  // namespace matador::cuda
