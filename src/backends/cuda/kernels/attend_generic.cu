// Attention for any head size and dtype: a warp for each query head of each token, its features
// spread over the lanes, an online softmax over the positions in order.
#include <stdexcept>

#include "backends/cuda/kernels/kernels.h"
#include "backends/cuda/kernels/kv.cuh"

namespace matador::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

template <int kPerLane, class T, class K>
__global__ void attend_generic_kernel(View<const T> q, KvView<const K> kv, Attend attend,
                                      BatchArrays batch, const float* sinks, View<T> y) {
  const int64_t item = int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  const int64_t token = item / attend.num_heads;
  if (token >= batch.num_tokens) return;
  const int head = static_cast<int>(item % attend.num_heads);
  const int kv_head = head / (attend.num_heads / attend.num_kv_heads);
  const int lane = threadIdx.x % 32;
  const int position = batch.positions[token];
  const int32_t* table = reinterpret_cast<const int32_t*>(batch.header) + batch.header->tables +
                         batch.table_starts[batch.sequences[token]];
  float query[kPerLane], sum[kPerLane] = {};
  for (int i = 0; i < kPerLane; ++i) {
    const int feature = lane + 32 * i;
    query[i] = feature < attend.head_dim
                   ? load(q.row(token) + int64_t{head} * attend.head_dim + feature)
                   : 0;
  }
  const float slope = attend.alibi_max > 0 ? alibi_slope(attend, head) : 0;
  const float scale = score_scale(attend, position);
  const int values = kv.latent > 0 ? kv.latent : attend.head_dim;
  float highest = sinks != nullptr ? sinks[head] : -INFINITY;
  float total = sinks != nullptr ? 1 : 0;
  for (int p = first_seen(attend.window, attend.chunk, position); p <= position; ++p) {
    const K* key = kv.key(table[p / kv.block_size], kv_head, p % kv.block_size);
    float score = 0;
    for (int i = 0; i < kPerLane; ++i) {
      if (lane + 32 * i < attend.head_dim) score = fmaf(query[i], load(key + lane + 32 * i), score);
    }
    score = warp_sum(score) * scale;
    if (attend.softcap > 0) score = attend.softcap * tanhf(score / attend.softcap);
    score += slope * static_cast<float>(p - position);
    const float before = highest;
    highest = fmaxf(highest, score);
    const float shrink = expf(before - highest), share = expf(score - highest);
    total = total * shrink + share;
    const K* value = key + kv.value_offset();
    for (int i = 0; i < kPerLane; ++i) {
      if (lane + 32 * i < values) {
        sum[i] = sum[i] * shrink + share * load(value + lane + 32 * i);
      }
    }
  }
  for (int i = 0; i < kPerLane; ++i) {
    const int feature = lane + 32 * i;
    if (feature >= values) continue;
    store(y.row(token) + int64_t{head} * values + feature, sum[i] / total);
  }
}

}  // namespace

void attend_generic(const Tensor& q, const KvLayer& kv, const Attend& attend,
                    const BatchArrays& batch, const float* sinks, const Tensor& y,
                    cudaStream_t stream) {
  if (q.rows == 0) return;
  if (attend.head_dim > 640) throw std::runtime_error("attention heads wider than 640 features");
  const auto grid = static_cast<unsigned>(ceil_div(q.rows * attend.num_heads, kWarps));
  with_type(q.dtype, [&]<class T>() {
    with_kv_type(kv.type, [&]<class K>() {
      const auto launch = [&](auto kernel) {
        kernel<<<grid, kThreads, 0, stream>>>(view<const T>(q), view<const K>(kv), attend, batch,
                                              sinks, view<T>(y));
      };
      if (attend.head_dim <= 128) {
        launch(attend_generic_kernel<4, T, K>);
      } else if (attend.head_dim <= 512) {
        launch(attend_generic_kernel<16, T, K>);
      } else {
        launch(attend_generic_kernel<20, T, K>);
      }
    });
  });
  check_launch("attend_generic_kernel");
}

}  // namespace matador::cuda
