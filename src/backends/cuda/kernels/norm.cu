// RMS and layer norms. A team of threads normalises a group of features: a block for rows, a warp
// for heads. The team's size depends on the group's only, so a row's sums do too.
#include "backends/cuda/kernels/early_start.cuh"
#include "backends/cuda/kernels/kernels.h"
#include "backends/cuda/kernels/pack.cuh"

namespace matador::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarpGroup = 512;  // features up to which a warp is enough

struct Affine {
  float eps, weight_offset;
  bool layer;
  const float* weight;  // [group] or [cols]
  const float* bias;    // likewise, or null
  bool per_column;      // the weight is as wide as the row, not as the group
};

template <int kTeam>
__device__ float team_sum(float value, float* shared) {
  value = warp_sum(value);
  if constexpr (kTeam > 32) {
    __syncthreads();  // `shared` may still be read by the sum before
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < kTeam / 32; ++warp) value += shared[warp];
  }
  return value;
}

// Normalises `x`, given as a function from feature to value, to `y`.
template <int kTeam, class X, class Y>
__device__ void normalise(X x, const Affine& affine, int column, int group, Y* y) {
  __shared__ float shared[kTeam / 32];
  const int lane = threadIdx.x % kTeam;
  float mean = 0;
  if (affine.layer) {
    float sum = 0;
    for (int i = lane; i < group; i += kTeam) sum += x(i);
    mean = team_sum<kTeam>(sum, shared) / group;
  }
  float squares = 0;
  for (int i = lane; i < group; i += kTeam) squares += (x(i) - mean) * (x(i) - mean);
  const float scale = rsqrtf(team_sum<kTeam>(squares, shared) / group + affine.eps);
  const int offset = affine.per_column ? column : 0;
  for (int i = lane; i < group; i += kTeam) {
    float value = (x(i) - mean) * scale * (affine.weight_offset + affine.weight[offset + i]);
    if (affine.bias != nullptr) value += affine.bias[offset + i];
    store(y + i, value);
  }
}

template <int kTeam, class X, class Y>
__global__ void norm_kernel(View<const X> x, Affine affine, int group, int groups, View<Y> y) {
  const int index = blockIdx.x * (kThreads / kTeam) + threadIdx.x / kTeam;
  if (index >= groups) return;
  const int column = index * group;
  const X* from = x.row(blockIdx.y) + column;
  normalise<kTeam>([&](int i) { return load(from + i); }, affine, column, group,
                   y.row(blockIdx.y) + column);
}

// A whole row by a block, eight values at a time in registers: norm(x), or norm(x + y) and the sum
// where `y` is there. The sum is rounded before it is normalised, as if two operations did it.
template <int kPacks, class X>
__global__ void __launch_bounds__(kThreads)
    row_kernel(View<const X> x, View<const X> y, Affine affine, int cols, View<X> normed,
               View<X> sum) {
  let_next_start();
  __shared__ float shared[kThreads / 32];
  const int64_t row = blockIdx.x;
  float values[kPacks][8];
  float total = 0;
#pragma unroll
  for (int pack = 0; pack < kPacks; ++pack) {
    const int column = (pack * kThreads + threadIdx.x) * 8;
    if (column >= cols) break;
    load_pack<8>(x.row(row) + column, values[pack]);
    if (y.data != nullptr) {
      float other[8];
      load_pack<8>(y.row(row) + column, other);
#pragma unroll
      for (int i = 0; i < 8; ++i) values[pack][i] = rounded<X>(values[pack][i] + other[i]);
      store_pack<8>(sum.row(row) + column, values[pack]);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) total += values[pack][i];
  }
  const float mean = affine.layer ? team_sum<kThreads>(total, shared) / cols : 0;
  float squares = 0;
#pragma unroll
  for (int pack = 0; pack < kPacks; ++pack) {
    if ((pack * kThreads + threadIdx.x) * 8 >= cols) break;
#pragma unroll
    for (int i = 0; i < 8; ++i) squares += (values[pack][i] - mean) * (values[pack][i] - mean);
  }
  const float scale = rsqrtf(team_sum<kThreads>(squares, shared) / cols + affine.eps);
#pragma unroll
  for (int pack = 0; pack < kPacks; ++pack) {
    const int column = (pack * kThreads + threadIdx.x) * 8;
    if (column >= cols) break;
    float weight[8], bias[8] = {};
    load_pack<8>(affine.weight + column, weight);
    if (affine.bias != nullptr) load_pack<8>(affine.bias + column, bias);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      values[pack][i] =
          (values[pack][i] - mean) * scale * (affine.weight_offset + weight[i]) + bias[i];
    }
    store_pack<8>(normed.row(row) + column, values[pack]);
  }
}

// False where rows are too wide or not to be read in packs.
template <class X>
bool launch_row(const Tensor& x, const Tensor& y, const Affine& affine, const Tensor& normed,
                const Tensor& sum, cudaStream_t stream) {
  const int64_t packs = ceil_div(x.cols, kThreads * 8);
  if (packs > 4 || !has_packs(x) || (y.data != nullptr && !has_packs(y))) return false;
  const auto launch = [&](auto kernel) {
    kernel<<<static_cast<unsigned>(x.rows), kThreads, 0, stream>>>(
        view<const X>(x), view<const X>(y), affine, static_cast<int>(x.cols), view<X>(normed),
        view<X>(sum));
  };
  if (packs == 1) {
    launch(row_kernel<1, X>);
  } else if (packs == 2) {
    launch(row_kernel<2, X>);
  } else {
    launch(row_kernel<4, X>);
  }
  return true;
}

// What a thread adds it alone reads again, so the sum needs no barrier.
template <class X>
__global__ void add_norm_kernel(View<const X> x, View<const X> y, Affine affine, int cols,
                                View<X> normed, View<X> sum) {
  const X* left = x.row(blockIdx.x);
  const X* right = y.row(blockIdx.x);
  X* total = sum.row(blockIdx.x);
  for (int i = threadIdx.x; i < cols; i += kThreads) {
    store(total + i, load(left + i) + load(right + i));
  }
  normalise<kThreads>([&](int i) { return load(total + i); }, affine, 0, cols,
                      normed.row(blockIdx.x));
}

Affine affine_of(const Norm& norm, const Weight& w, int64_t group) {
  return {norm.eps,
          norm.weight_offset,
          norm.kind == Norm::Kind::layer,
          reinterpret_cast<const float*>(w.data),
          w.bias,
          w.cols != group};
}

}  // namespace

void norm(const Tensor& x, const Norm& norm, const Weight& w, const Tensor& y,
          cudaStream_t stream) {
  if (x.rows == 0) return;
  const int64_t group = norm.group > 0 ? norm.group : x.cols;
  const int groups = static_cast<int>(x.cols / group);
  const Affine affine = affine_of(norm, w, group);
  with_type(x.dtype, [&]<class X>() {
    if (groups == 1 && launch_row<X>(x, {}, affine, y, {}, stream)) return;
    const auto launch = [&](auto kernel, int teams) {
      const dim3 grid(static_cast<unsigned>(ceil_div(groups, teams)),
                      static_cast<unsigned>(x.rows));
      kernel<<<grid, kThreads, 0, stream>>>(view<const X>(x), affine, static_cast<int>(group),
                                            groups, view<X>(y));
    };
    if (group <= kWarpGroup) {
      launch(norm_kernel<32, X, X>, kThreads / 32);
    } else {
      launch(norm_kernel<kThreads, X, X>, 1);
    }
  });
  check_launch("norm_kernel");
}

void add_norm(const Tensor& x, const Tensor& y, const Norm& norm, const Weight& w,
              const Tensor& normed, const Tensor& sum, cudaStream_t stream) {
  if (x.rows == 0) return;
  const Affine affine = affine_of(norm, w, x.cols);
  with_type(x.dtype, [&]<class X>() {
    if (launch_row<X>(x, y, affine, normed, sum, stream)) return;
    add_norm_kernel<<<static_cast<unsigned>(x.rows), kThreads, 0, stream>>>(
        view<const X>(x), view<const X>(y), affine, static_cast<int>(x.cols), view<X>(normed),
        view<X>(sum));
  });
  check_launch("add_norm_kernel");
}

}  // namespace matador::cuda
