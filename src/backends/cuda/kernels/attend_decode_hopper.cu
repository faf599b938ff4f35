// Attention of sequences with one new token on Hopper: attend_decode.cu with the bulk copy engine,
// and the same bits. Each warp takes splits in turn; as soon as it has read a tile, that tile of
// its next split is on its way.
#include "backends/cuda/kernels/attend_splits.cuh"
#include "backends/cuda/kernels/kv_boxes.cuh"

namespace matador::cuda {
namespace {

template <int kDim>
struct DecodeShape {
  static constexpr int kTile = AttendShape<kDim>::kTile;
  using Tile = BoxedTile<kDim, kTile>;
  static constexpr int kTiles = kTilesOfSplit<kDim>;
  static constexpr int kSplitBytes = kTiles * 2 * Tile::kBytes;
  static constexpr int kWarps = 192 * 1024 / kSplitBytes;
  static constexpr int kQueryBytes = 2 * AttendShape<kDim>::kQueryElements * 2;
  static constexpr int kSharedBytes = kWarps * (kSplitBytes + kQueryBytes) + 1024;
};

struct Decode {
  KvBoxes cache;
  View<const __nv_bfloat16> q;
  int32_t num_heads;
  Scores rule;
  BatchArrays batch;
  float* partials;
};

// A split of a sequence's context for the query heads of one KV head.
template <int kDim>
struct Item {
  using Shape = DecodeShape<kDim>;
  int64_t task;
  int head, token, position, first;
  int rows[Shape::kTiles];    // tokens to see; none where the split is out of the window
  int blocks[Shape::kTiles];  // of the lane's boxes

  __device__ Item(const Decode& decode, int64_t index)
      : task(index / decode.cache.num_heads),
        head(static_cast<int>(index % decode.cache.num_heads)) {
    const int32_t* words = words_of(decode.batch);
    const auto* tasks = reinterpret_cast<const DecodeTask*>(words + decode.batch.header->tasks);
    const int sequence = tasks[task].sequence;
    token = decode.batch.query_start[sequence];
    position = decode.batch.positions[token];
    first = tasks[task].first;
    const int32_t* table =
        words + decode.batch.header->tables + decode.batch.table_starts[sequence];
    const bool out = out_of_window(first, position, decode.rule.window);
#pragma unroll
    for (int i = 0; i < Shape::kTiles; ++i) {
      const int begin = first + i * Shape::kTile;
      rows[i] = out ? 0 : min(Shape::kTile, max(0, position + 1 - begin));
      blocks[i] = decode.cache.lane_block(table, begin, rows[i]);
    }
  }
};

// A warp's room in shared memory: the tiles of a split, and the queries of two.
template <int kDim>
struct Room {
  using Shape = DecodeShape<kDim>;
  std::byte* tiles;
  __nv_bfloat16* queries;
  Barrier* full;  // [kTiles]

  __device__ std::byte* keys(int i) const { return tiles + i * 2 * Shape::Tile::kBytes; }
  __device__ std::byte* values(int i) const { return keys(i) + Shape::Tile::kBytes; }
  __device__ __nv_bfloat16* query(int parity) const {
    return queries + parity * AttendShape<kDim>::kQueryElements;
  }

  __device__ void load(const Decode& decode, const Item<kDim>& item, int i) const {
    decode.cache.load<typename Shape::Tile>(item.blocks[i], item.head,
                                            item.first + i * Shape::kTile, item.rows[i], keys(i),
                                            values(i), full[i]);
  }
  __device__ void load_query(const Decode& decode, const Item<kDim>& item, int parity) const {
    constexpr int kChunks = kDim / 8;
    const int group = decode.num_heads / decode.cache.num_heads;
    const __nv_bfloat16* from = decode.q.row(item.token) + int64_t{item.head * group} * kDim;
#pragma unroll
    for (int i = threadIdx.x % 32; i < 16 * kChunks; i += 32) {
      const int row = i / kChunks, column = i % kChunks * 8;
      const bool there = row < group;
      copy_async(query(parity) + AttendShape<kDim>::offset(row, column),
                 there ? from + row * kDim + column : from, there);
    }
    commit_copies();
  }
};

// `next`, where there is one, is loaded as room is left.
template <int kDim>
__device__ void attend_item(const Decode& decode, const Item<kDim>& item, const Room<kDim>& room,
                            int parity, bool has_next, const Item<kDim>& next) {
  using Shape = DecodeShape<kDim>;
  const int group = decode.num_heads / decode.cache.num_heads;
  const int lane_row = threadIdx.x % 32 / 4;
  const int positions[2] = {lane_row < group ? item.position : -1,
                            lane_row + 8 < group ? item.position : -1};
  RowSums<kDim> rows;
  rows.clear();
  wait_copies<0>();
  __syncwarp();
  if (has_next) room.load_query(decode, next, parity ^ 1);
#pragma unroll
  for (int i = 0; i < Shape::kTiles; ++i) {
    room.full[i].wait(parity);
    if (item.rows[i] > 0) {
      if (item.rows[i] < Shape::kTile) {
        clear_values<typename Shape::Tile, Shape::kTile>(room.values(i), item.rows[i]);
      }
      attend_tile<__nv_bfloat16, kDim, typename Shape::Tile>(
          room.query(parity), reinterpret_cast<const __nv_bfloat16*>(room.keys(i)),
          reinterpret_cast<const __nv_bfloat16*>(room.values(i)), item.first + i * Shape::kTile,
          positions, decode.rule, rows);
    }
    __syncwarp();
    if (has_next) room.load(decode, next, i);
  }
  store_partial<kDim>(rows, decode.partials, item.task, decode.num_heads, item.head * group, group);
}

template <int kDim>
__global__ void __launch_bounds__(DecodeShape<kDim>::kWarps * 32, 1)
    attend_splits_hopper_kernel(const __grid_constant__ Decode decode) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Shape = DecodeShape<kDim>;
  extern __shared__ std::byte shared[];
  __shared__ Barrier full[Shape::kWarps][Shape::kTiles];
  const int warp = threadIdx.x / 32;
  std::byte* const aligned = shared + (1024 - shared_address(shared) % 1024) % 1024;
  const Room<kDim> room{
      aligned + warp * Shape::kSplitBytes,
      reinterpret_cast<__nv_bfloat16*>(aligned + Shape::kWarps * Shape::kSplitBytes +
                                       warp * Shape::kQueryBytes),
      full[warp]};
  if (threadIdx.x % 32 == 0) {
    for (int i = 0; i < Shape::kTiles; ++i) room.full[i].initialise(1);
    fence_barriers();
  }
  __syncwarp();
  const int64_t items = int64_t{decode.batch.header->num_decode_tasks} * decode.cache.num_heads;
  const int64_t step = int64_t{gridDim.x} * Shape::kWarps;
  int64_t index = blockIdx.x + int64_t{warp} * gridDim.x;  // neighbours on different processors
  if (index >= items) return;
  Item<kDim> item(decode, index);
  room.load_query(decode, item, 0);
#pragma unroll
  for (int i = 0; i < Shape::kTiles; ++i) room.load(decode, item, i);
  for (int parity = 0; index < items; index += step, parity ^= 1) {
    const bool has_next = index + step < items;
    const Item<kDim> next(decode, has_next ? index + step : index);
    attend_item<kDim>(decode, item, room, parity, has_next, next);
    item = next;
  }
#endif
}

template <int kDim>
void launch(const Decode& decode, cudaStream_t stream) {
  using Shape = DecodeShape<kDim>;
  const auto kernel = attend_splits_hopper_kernel<kDim>;
  const unsigned blocks = resident_blocks(kernel, Shape::kWarps * 32, Shape::kSharedBytes);
  kernel<<<blocks, Shape::kWarps * 32, Shape::kSharedBytes, stream>>>(decode);
  check_launch("attend_splits_hopper_kernel");
}

}  // namespace

void attend_splits_hopper(const Tensor& q, const KvLayer& kv, const Attend& attend,
                          const BatchArrays& batch, float* partials, cudaStream_t stream) {
  const Decode decode{
      KvBoxes::of(kv), view<const __nv_bfloat16>(q), attend.num_heads, scores_of(attend), batch,
      partials};
  if (kv.head_dim == 64) {
    launch<64>(decode, stream);
  } else {
    launch<128>(decode, stream);
  }
}

}  // namespace matador::cuda
