// Operations on each element alone.
#include "backends/cuda/kernels/early_start.cuh"
#include "backends/cuda/kernels/kernels.h"
#include "backends/cuda/kernels/pack.cuh"

namespace matador::cuda {
namespace {

constexpr int kThreads = 256;

// y = f(a, b), kCount values a thread; f is called with column, a and b.
template <int kCount, class F, class A, class Y>
__global__ void map_kernel(F f, View<const A> a, View<const A> b, View<Y> y, int64_t cols) {
  let_next_start();
  const int64_t column = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kCount;
  if (column >= cols) return;
  const int64_t row = blockIdx.y;
  float left[kCount], right[kCount];
  load_pack<kCount>(a.row(row) + column, left);
  load_pack<kCount>(b.row(row) + column, right);
#pragma unroll
  for (int i = 0; i < kCount; ++i) left[i] = f(column + i, left[i], right[i]);
  store_pack<kCount>(y.row(row) + column, left);
}

template <int kCount, class F, class A, class Y>
void launch_map(F f, const Tensor& a, const Tensor& b, const Tensor& y, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(ceil_div(y.cols, kThreads * kCount)),
                  static_cast<unsigned>(y.rows));
  map_kernel<kCount>
      <<<grid, kThreads, 0, stream>>>(f, view<const A>(a), view<const A>(b), view<Y>(y), y.cols);
  check_launch("map_kernel");
}

template <class F>
void map(F f, const Tensor& a, const Tensor& b, const Tensor& y, cudaStream_t stream) {
  if (y.rows == 0) return;
  const bool packs = has_packs(a) && has_packs(b) && has_packs(y);
  with_type(a.dtype, [&]<class A>() {
    with_type(y.dtype, [&]<class Y>() {
      if (packs) {
        launch_map<8, F, A, Y>(f, a, b, y, stream);
      } else {
        launch_map<1, F, A, Y>(f, a, b, y, stream);
      }
    });
  });
}

struct Add {
  float scale;
  __device__ float operator()(int64_t, float x, float y) const { return x + scale * y; }
};

struct Multiply {
  __device__ float operator()(int64_t, float x, float y) const { return x * y; }
};

struct Clamp {
  float limit;
  __device__ float operator()(int64_t, float x, float) const {
    return fminf(fmaxf(x, -limit), limit);
  }
};

struct First {
  __device__ float operator()(int64_t, float x, float) const { return x; }
};

struct AddBias {
  const float* bias;
  __device__ float operator()(int64_t column, float x, float) const { return x + bias[column]; }
};

struct ScaleLogits {
  float factor, softcap;
  __device__ float operator()(int64_t, float x, float) const {
    if (softcap > 0) x = softcap * tanhf(x / softcap);
    return factor * x;
  }
};

template <Act kAct>
__device__ float apply(float x) {
  if constexpr (kAct == Act::silu) return x / (1 + expf(-x));
  if constexpr (kAct == Act::gelu) return 0.5F * x * (1 + erff(x * 0.70710678118654752F));
  if constexpr (kAct == Act::gelu_tanh) {
    return 0.5F * x * (1 + tanhf(0.79788456080286536F * (x + 0.044715F * x * x * x)));
  }
  if constexpr (kAct == Act::quick_gelu) return x / (1 + expf(-1.702F * x));
  if constexpr (kAct == Act::relu_squared) return fmaxf(x, 0) * fmaxf(x, 0);
  return fmaxf(x, 0);
}

template <Act kAct>
struct Activate {
  __device__ float operator()(int64_t, float x, float) const { return apply<kAct>(x); }
};

template <Act kAct>
struct Gated {
  __device__ float operator()(int64_t, float gate, float up) const {
    return apply<kAct>(gate) * up;
  }
};

template <template <Act> class F>
void map_act(Act act, const Tensor& a, const Tensor& b, const Tensor& y, cudaStream_t stream) {
  switch (act) {
    case Act::silu: return map(F<Act::silu>{}, a, b, y, stream);
    case Act::gelu: return map(F<Act::gelu>{}, a, b, y, stream);
    case Act::gelu_tanh: return map(F<Act::gelu_tanh>{}, a, b, y, stream);
    case Act::relu: return map(F<Act::relu>{}, a, b, y, stream);
    case Act::relu_squared: return map(F<Act::relu_squared>{}, a, b, y, stream);
    case Act::quick_gelu: return map(F<Act::quick_gelu>{}, a, b, y, stream);
  }
}

}  // namespace

void add(const Tensor& x, const Tensor& y, float scale, const Tensor& sum, cudaStream_t stream) {
  map(Add{scale}, x, y, sum, stream);
}

void multiply(const Tensor& x, const Tensor& y, const Tensor& product, cudaStream_t stream) {
  map(Multiply{}, x, y, product, stream);
}

void activate(const Tensor& x, Act act, const Tensor& y, cudaStream_t stream) {
  map_act<Activate>(act, x, x, y, stream);
}

void clamp(const Tensor& x, float limit, const Tensor& y, cudaStream_t stream) {
  map(Clamp{limit}, x, x, y, stream);
}

void gated(const Tensor& gate, const Tensor& up, Act act, const Tensor& y, cudaStream_t stream) {
  map_act<Gated>(act, gate, up, y, stream);
}

void scale_logits(const Tensor& x, float factor, float softcap, const Tensor& y,
                  cudaStream_t stream) {
  map(ScaleLogits{factor, softcap}, x, x, y, stream);
}

void convert(const Tensor& x, const Tensor& y, cudaStream_t stream) {
  map(First{}, x, x, y, stream);
}

void add_bias(const Tensor& y, const float* bias, cudaStream_t stream) {
  map(AddBias{bias}, y, y, y, stream);
}

}  // namespace matador::cuda
