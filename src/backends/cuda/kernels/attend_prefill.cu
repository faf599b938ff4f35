// Attention of sequences with several new tokens. A block takes a run of query rows, being the
// tokens of a sequence times the query heads of one KV head, sixteen rows a warp, over tiles of the
// context that all its warps share; the next tile is copied while one is computed.
#include "backends/cuda/kernels/attend_runs.cuh"
#include "backends/cuda/kernels/attend_tile.cuh"

namespace matador::cuda {
namespace {

template <int kDim>
struct PrefillShape : AttendShape<kDim> {
  static constexpr int kWarps = kDim <= 128 ? 8 : 4;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kRows = 16 * kWarps;
  static constexpr int kMergedFloats = kDim / 2 * kThreads;
  template <class K>
  static constexpr int kSharedBytes = (kWarps * AttendShape<kDim>::kQueryElements +
                                       4 * AttendShape<kDim>::kTileElements) *
                                          static_cast<int>(sizeof(K)) +
                                      kMergedFloats* static_cast<int>(sizeof(float));
};

template <class K, int kDim>
__global__ void __launch_bounds__(PrefillShape<kDim>::kThreads)
    attend_prefill_kernel(View<const __nv_bfloat16> q, KvView<const K> kv, int num_heads,
                          Scores rule, BatchArrays batch, bool decodes_too, View<__nv_bfloat16> y) {
  using Shape = PrefillShape<kDim>;
  extern __shared__ uint4 shared[];
  K* const tiles = reinterpret_cast<K*>(shared);
  float* const merged = reinterpret_cast<float*>(tiles + 4 * Shape::kTileElements);
  K* const queries = reinterpret_cast<K*>(merged + Shape::kMergedFloats);
  const int head = blockIdx.y;
  const int group = num_heads / kv.num_heads;
  // The last runs have the longest contexts: they start first.
  const Run run = find_run(batch, gridDim.x - 1 - blockIdx.x, Shape::kRows / group, decodes_too);
  const int32_t* table = reinterpret_cast<const int32_t*>(batch.header) + batch.header->tables +
                         batch.table_starts[run.sequence];
  const int lowest = batch.positions[run.first_token];
  const int context = lowest + run.num_tokens;
  const int first_seen = rule.window > 0 ? max(0, lowest - rule.window + 1) : 0;
  const int first_tile = first_seen / Shape::kTile;
  const int end_tile = (context + Shape::kTile - 1) / Shape::kTile;

  const auto start_tile = [&](int tile) {
    K* keys = tiles + tile % 2 * 2 * Shape::kTileElements;
    constexpr int kRows = Shape::kTile / Shape::kWarps;
    const int first_row = threadIdx.x / 32 * kRows;
    const RowOffsets<kRows> offsets(kv, table, head, tile * Shape::kTile + first_row, context);
    load_tile<K, kDim, Shape::kWarps>(kv, offsets, keys, keys + Shape::kTileElements);
  };
  start_tile(first_tile);

  const int warp = threadIdx.x / 32;
  K* const query = queries + warp * Shape::kQueryElements;
  load_queries<K, kDim>(
      [&](int i) -> const __nv_bfloat16* {
        const int row = warp * 16 + i;
        if (row / group >= run.num_tokens) return nullptr;
        return q.row(run.first_token + row / group) + int64_t{head * group + row % group} * kDim;
      },
      query);
  for (int i = 0; i < kDim / 2; ++i) merged[i * Shape::kThreads + threadIdx.x] = 0;
  int positions[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int token = (warp * 16 + threadIdx.x % 32 / 4 + 8 * i) / group;
    positions[i] = token < run.num_tokens ? lowest + token : -1;
  }

  RowSums<kDim> rows;
  rows.clear();
  float highest[2] = {-INFINITY, -INFINITY}, total[2] = {0, 0};
  for (int tile = first_tile; tile < end_tile; ++tile) {
    if (tile + 1 < end_tile) {
      start_tile(tile + 1);
      wait_copies<1>();
    } else {
      wait_copies<0>();
    }
    __syncthreads();
    const K* keys = tiles + tile % 2 * 2 * Shape::kTileElements;
    attend_tile<K, kDim>(query, keys, keys + Shape::kTileElements, tile * Shape::kTile, positions,
                         rule, rows);
    if ((tile + 1) * Shape::kTile % kSplitTokens == 0 || tile + 1 == end_tile) {
      merge_split<kDim>(rows, highest, total, [&](int of, int i) -> float& {
        return merged[(of * 4 + i) * Shape::kThreads + threadIdx.x];
      });
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = warp * 16 + threadIdx.x % 32 / 4 + i / 2 * 8;
    if (positions[i / 2] < 0) continue;
    __nv_bfloat16* out =
        y.row(run.first_token + row / group) + int64_t{head * group + row % group} * kDim;
#pragma unroll
    for (int tile = 0; tile < kDim / 8; ++tile) {
      const float sum = merged[(tile * 4 + i) * Shape::kThreads + threadIdx.x];
      store(out + tile * 8 + threadIdx.x % 4 * 2 + i % 2, __fdiv_rn(sum, total[i / 2]));
    }
  }
}

}  // namespace

bool has_tensor_attend(const KvLayer& kv, const Attend& attend, size_t shared_bytes) {
  const int group = attend.num_heads / attend.num_kv_heads;
  if (attend.alibi_max > 0 || attend.chunk > 0 || attend.temperature != 0) return false;
  if (kv.latent > 0) return false;
  if (kv.type == KvType::f32 || group > 64 || !has_head_dim(kv.head_dim)) return false;
  size_t needed = 0;
  with_head_dim(kv.head_dim, [&]<int kDim>() {
    needed = PrefillShape<kDim>::template kSharedBytes<__nv_bfloat16>;
  });
  return needed <= shared_bytes;
}

void attend_prefill(const Tensor& q, const KvLayer& kv, const Attend& attend,
                    const BatchArrays& batch, const PrefillRows& rows, const Tensor& y,
                    cudaStream_t stream) {
  with_half_type(kv.type, [&]<class K>() {
    with_head_dim(kv.head_dim, [&]<int kDim>() {
      using Shape = PrefillShape<kDim>;
      constexpr int kShared = Shape::template kSharedBytes<K>;
      const auto kernel = attend_prefill_kernel<K, kDim>;
      const unsigned ready = resident_blocks(kernel, Shape::kThreads, kShared);
      const int tokens = Shape::kRows / (attend.num_heads / attend.num_kv_heads);
      const int runs = count_runs(rows.query_start, tokens, rows.decodes_too);
      if (runs == 0 || ready == 0) return;
      const dim3 grid(static_cast<unsigned>(runs), static_cast<unsigned>(kv.num_kv_heads));
      kernel<<<grid, Shape::kThreads, kShared, stream>>>(
          view<const __nv_bfloat16>(q), view<const K>(kv), attend.num_heads, scores_of(attend),
          batch, rows.decodes_too, view<__nv_bfloat16>(y));
    });
  });
  check_launch("attend_prefill_kernel");
}

}  // namespace matador::cuda
