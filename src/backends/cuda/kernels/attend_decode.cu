// Attention of sequences with one new token. A warp takes one split of a sequence's context for the
// query heads that share a KV head, all of whose copies are under way at once; a second kernel
// merges a head's splits in order.
#include "backends/cuda/kernels/attend_splits.cuh"
#include "backends/cuda/kernels/early_start.cuh"

namespace matador::cuda {
namespace {

constexpr int kThreads = 32;

__device__ __forceinline__ void wait_until_pending(int groups) {
  switch (groups) {
    case 0: return wait_copies<0>();
    case 1: return wait_copies<1>();
    case 2: return wait_copies<2>();
    default: return wait_copies<3>();
  }
}

template <class K, int kDim>
__global__ void __launch_bounds__(kThreads)
    attend_splits_kernel(View<const __nv_bfloat16> q, KvView<const K> kv, int num_heads,
                         Scores rule, BatchArrays batch, float* partials) {
  using Shape = AttendShape<kDim>;
  extern __shared__ uint4 shared[];
  K* const query = reinterpret_cast<K*>(shared);
  K* const tiles = query + Shape::kQueryElements;
  const auto* tasks = reinterpret_cast<const DecodeTask*>(words_of(batch) + batch.header->tasks);
  const int group = num_heads / kv.num_heads;
  const int64_t items = int64_t{batch.header->num_decode_tasks} * kv.num_heads;
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const int64_t index = item / kv.num_heads;
    const int head = static_cast<int>(item % kv.num_heads);
    const DecodeTask task = tasks[index];
    const int token = batch.query_start[task.sequence];
    const int position = batch.positions[token];
    if (out_of_window(task.first, position, rule.window)) continue;
    const int32_t* table =
        words_of(batch) + batch.header->tables + batch.table_starts[task.sequence];
    __syncwarp();  // the item before is read
#pragma unroll
    for (int i = 0; i < kTilesOfSplit<kDim>; ++i) {
      K* keys = tiles + 2 * i * Shape::kTileElements;
      const RowOffsets<Shape::kTile> offsets(kv, table, head, task.first + i * Shape::kTile,
                                             position + 1);
      load_tile<K, kDim, 1>(kv, offsets, keys, keys + Shape::kTileElements);
    }
    const __nv_bfloat16* const queries = q.row(token) + int64_t{head * group} * kDim;
    load_queries<K, kDim>([&](int row) { return row < group ? queries + row * kDim : nullptr; },
                          query);
    const int lane_row = threadIdx.x / 4;
    const int positions[2] = {lane_row < group ? position : -1,
                              lane_row + 8 < group ? position : -1};
    RowSums<kDim> rows;
    rows.clear();
    for (int i = 0; i < kTilesOfSplit<kDim>; ++i) {
      wait_until_pending(kTilesOfSplit<kDim> - 1 - i);
      __syncwarp();
      const K* keys = tiles + 2 * i * Shape::kTileElements;
      attend_tile<K, kDim>(query, keys, keys + Shape::kTileElements, task.first + i * Shape::kTile,
                           positions, rule, rows);
    }
    store_partial<kDim>(rows, partials, index, num_heads, head * group, group);
  }
}

template <int kDim>
__global__ void __launch_bounds__(kDim)
    merge_splits_kernel(const float* partials, int num_heads, int window, BatchArrays batch,
                        View<__nv_bfloat16> y) {
  let_next_start();
  constexpr int kBatch = 16;  // partials under way at once
  const int sequence = blockIdx.x, head = blockIdx.y;
  const int first_task = batch.task_starts[sequence];
  const int num_tasks = batch.task_starts[sequence + 1] - first_task;
  if (num_tasks == 0) return;
  const int token = batch.query_start[sequence];
  const int first_seen = window > 0 ? max(0, batch.positions[token] - window + 1) : 0;
  float highest = -INFINITY, total = 0, sum = 0;
  for (int base = first_seen / kSplitTokens; base < num_tasks; base += kBatch) {
    float highs[kBatch], totals[kBatch], sums[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int task = first_task + min(base + i, num_tasks - 1);
      const float* partial =
          Partial<kDim>(const_cast<float*>(partials), task, num_heads, head).data;
      const bool there = base + i < num_tasks;  // else a split that adds nothing
      highs[i] = there ? partial[kDim] : -INFINITY;
      totals[i] = there ? partial[kDim + 1] : 0;
      sums[i] = there ? partial[threadIdx.x] : 0;
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const Merge merge(highest, highs[i]);
      highest = merge.highest;
      total = merge(total, totals[i]);
      sum = merge(sum, sums[i]);
    }
  }
  store(y.row(token) + head * kDim + threadIdx.x, __fdiv_rn(sum, total));
}

template <class K, int kDim>
void launch(const Tensor& q, const KvLayer& kv, const Attend& attend, const BatchArrays& batch,
            float* partials, cudaStream_t stream) {
  using Shape = AttendShape<kDim>;
  constexpr int kShared = (Shape::kQueryElements + 2 * kTilesOfSplit<kDim> * Shape::kTileElements) *
                          static_cast<int>(sizeof(K));
  const auto kernel = attend_splits_kernel<K, kDim>;
  const unsigned blocks = resident_blocks(kernel, kThreads, kShared);
  kernel<<<blocks, kThreads, kShared, stream>>>(view<const __nv_bfloat16>(q), view<const K>(kv),
                                                attend.num_heads, scores_of(attend), batch,
                                                partials);
  check_launch("attend_splits_kernel");
}

}  // namespace

size_t decode_partial_floats(const Attend& attend) {
  return static_cast<size_t>(attend.num_heads) * static_cast<size_t>(attend.head_dim + 2);
}

void attend_splits(const Tensor& q, const KvLayer& kv, const Attend& attend,
                   const BatchArrays& batch, float* partials, cudaStream_t stream) {
  with_half_type(kv.type, [&]<class K>() {
    with_head_dim(kv.head_dim,
                  [&]<int kDim>() { launch<K, kDim>(q, kv, attend, batch, partials, stream); });
  });
}

void merge_splits(const float* partials, const Attend& attend, const BatchArrays& batch,
                  const Tensor& y, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(batch.num_sequences),
                  static_cast<unsigned>(attend.num_heads));
  with_head_dim(attend.head_dim, [&]<int kDim>() {
    merge_splits_kernel<kDim><<<grid, kDim, 0, stream>>>(partials, attend.num_heads, attend.window,
                                                         batch, view<__nv_bfloat16>(y));
  });
  check_launch("merge_splits_kernel");
}

}  // namespace matador::cuda
