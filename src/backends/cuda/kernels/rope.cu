// Rotary embedding in place: a thread turns one pair of features of all heads of a token, so that
// its sine and cosine are found once.
#include <cmath>

#include "backends/cuda/kernels/element.cuh"
#include "backends/cuda/kernels/kernels.h"

namespace matador::cuda {
namespace {

struct Pairs {
  int count;     // of a head
  int step;      // from one pair's first feature to the next's
  int distance;  // from a pair's first feature to its second
  float magnitude;
};

template <class T>
__global__ void rope_kernel(View<T> heads, int num_heads, int head_dim, Pairs pairs,
                            RopeAngles angles, const int32_t* positions) {
  const int pair = threadIdx.x;
  const int64_t token = blockIdx.x;
  // The product is rounded to f32, as checkpoints were trained and published with.
  const float angle = static_cast<float>(positions[token]) *
                      angles.per_position[token * angles.token_stride + pair];
  float sine, cosine;
  sincosf(angle, &sine, &cosine);
  sine *= pairs.magnitude;
  cosine *= pairs.magnitude;
  const int first_head = blockIdx.y * blockDim.y + threadIdx.y;
  for (int head = first_head; head < num_heads; head += gridDim.y * blockDim.y) {
    T* x = heads.row(token) + head * head_dim + pair * pairs.step;
    const float a = load(x), b = load(x + pairs.distance);
    store(x, a * cosine - b * sine);
    store(x + pairs.distance, b * cosine + a * sine);
  }
}

}  // namespace

void rope(const Tensor& heads, int32_t head_dim, const Rope& rope, const RopeAngles& angles,
          const BatchArrays& batch, cudaStream_t stream) {
  if (heads.rows == 0) return;
  const int count = rope.dim / 2;
  const Pairs pairs{count, rope.interleaved ? 2 : 1, rope.interleaved ? 1 : count,
                    rope.attention_factor};
  // The last head may be shorter, where the rotated features are not a head's first.
  const int num_heads = static_cast<int>(ceil_div(heads.cols, head_dim));
  const dim3 block(static_cast<unsigned>(count),
                   static_cast<unsigned>(std::max(1, std::min(num_heads, 256 / count))));
  with_type(heads.dtype, [&]<class T>() {
    rope_kernel<<<static_cast<unsigned>(heads.rows), block, 0, stream>>>(
        view<T>(heads), num_heads, head_dim, pairs, angles, batch.positions);
  });
  check_launch("rope_kernel");
}

}  // namespace matador::cuda
