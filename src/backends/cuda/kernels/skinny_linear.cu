// x W^T for up to kSkinnyTokens tokens on tensor cores: the time is that of reading W once.
//
// A block finds kRows output features; its warps share the row's K, a chunk of 32 each in turn, and
// their sums are added in order of warp. The weights are the matrix operand's sixteen rows and go
// from memory to registers directly: within a chunk of 32 the order of K is free as long as x has
// the same, so each lane takes eight consecutive values, one 16-byte access, for two instructions.
#include "backends/cuda/kernels/early_start.cuh"
#include "backends/cuda/kernels/kernels.h"
#include "backends/cuda/kernels/mma.cuh"
#include "backends/cuda/kernels/pack.cuh"

namespace matador::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kRows = 16;
constexpr int kChunk = 32;  // values of K a warp takes at once
constexpr int kUnroll = 4;  // chunks in flight

struct Output {
  const __nv_bfloat16* weight;
  const float* bias;
  void* y;
  int64_t y_stride;
  int32_t rows;
  int32_t first_block;
  bool f32;
};

struct Outputs {
  Output at[kLinearOutputs];
  int count;
};

// Weights never change, so that the read-only path will do; x may just have been written.
__device__ __forceinline__ uint4 load_weights(const __nv_bfloat16* from, bool valid) {
  return valid ? __ldg(reinterpret_cast<const uint4*>(from)) : uint4{0, 0, 0, 0};
}
__device__ __forceinline__ uint4 load_inputs(const __nv_bfloat16* from, bool valid) {
  return valid ? *reinterpret_cast<const uint4*>(from) : uint4{0, 0, 0, 0};
}

// What a lane multiplies at once: kUnroll chunks of its two weight rows and of each tile's token.
template <int kTiles>
struct Chunks {
  uint4 w[kUnroll][2];
  uint4 x[kUnroll][kTiles];
};

// A lane's rows of both matrices, null where there is none.
template <int kTiles>
struct Rows {
  const __nv_bfloat16* w[2];
  const __nv_bfloat16* x[kTiles];

  __device__ void load_w(int base, int cols, Chunks<kTiles>& chunks) const {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int k = base + u * kWarps * kChunk + threadIdx.x % 4 * 8;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        chunks.w[u][half] = load_weights(w[half] + k, w[half] != nullptr && k < cols);
      }
    }
  }
  __device__ void load_x(int base, int cols, Chunks<kTiles>& chunks) const {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int k = base + u * kWarps * kChunk + threadIdx.x % 4 * 8;
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        chunks.x[u][tile] = load_inputs(x[tile] + k, x[tile] != nullptr && k < cols);
      }
    }
  }
};

// Sums of sixteen output features for 8 * kTiles tokens over this warp's share of K. The next
// chunks are under way while some are multiplied.
template <int kTiles>
__device__ void sum_chunks(const Rows<kTiles>& rows, int cols, float (&sums)[kTiles][4]) {
  constexpr int kStep = kWarps * kChunk * kUnroll;
  int base = threadIdx.x / 32 * kChunk;
  Chunks<kTiles> chunks;
  rows.load_w(base, cols, chunks);
  wait_for_previous();  // the weights are nobody's result, x is
  rows.load_x(base, cols, chunks);
  for (; base < cols; base += kStep) {
    Chunks<kTiles> next;
    rows.load_w(base + kStep, cols, next);
    rows.load_x(base + kStep, cols, next);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const uint4& low = chunks.w[u][0];
      const uint4& high = chunks.w[u][1];
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const uint4& x = chunks.x[u][tile];
        mma<__nv_bfloat16>(sums[tile], {low.x, high.x, low.y, high.y}, {x.x, x.y});
        mma<__nv_bfloat16>(sums[tile], {low.z, high.z, low.w, high.w}, {x.z, x.w});
      }
    }
    chunks = next;
  }
}

template <int kTiles>
__global__ void __launch_bounds__(kThreads)
    skinny_kernel(View<const __nv_bfloat16> x, int tokens, int cols, Outputs outputs) {
  int index = 0;
  while (index + 1 < outputs.count &&
         static_cast<int>(blockIdx.x) >= outputs.at[index + 1].first_block) {
    ++index;
  }
  const Output& out = outputs.at[index];
  const int first_row = (blockIdx.x - out.first_block) * kRows;
  const int group = threadIdx.x % 32 / 4;
  Rows<kTiles> rows;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t row = first_row + group + 8 * half;
    rows.w[half] = row < out.rows ? out.weight + row * cols : nullptr;
  }
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    const int token = tile * 8 + group;
    rows.x[tile] = token < tokens ? x.row(token) : nullptr;
  }
  float sums[kTiles][4] = {};
  sum_chunks<kTiles>(rows, cols, sums);

  __shared__ float shared[kWarps][kTiles * 8][kRows + 1];
  const int warp = threadIdx.x / 32;
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      shared[warp][tile * 8 + column + i % 2][group + i / 2 * 8] = sums[tile][i];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kTiles * 8 * kRows; i += kThreads) {
    const int token = i / kRows, row = first_row + i % kRows;
    if (token >= tokens || row >= out.rows) continue;
    float sum = out.bias != nullptr ? out.bias[row] : 0;
    for (int from = 0; from < kWarps; ++from) sum += shared[from][token][i % kRows];
    const int64_t at = token * out.y_stride + row;
    if (out.f32) {
      static_cast<float*>(out.y)[at] = sum;
    } else {
      store(static_cast<__nv_bfloat16*>(out.y) + at, sum);
    }
  }
}

}  // namespace

bool has_tensor_code() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, skinny_kernel<1>), "cudaFuncGetAttributes");
  return attributes.ptxVersion >= 80;
}

void skinny_linear(const Tensor& x, std::span<const LinearOutput> outputs, cudaStream_t stream) {
  if (x.rows == 0) return;
  Outputs list{};
  int blocks = 0;
  for (const LinearOutput& output : outputs) {
    const Tensor& y = output.y;
    list.at[list.count++] = {static_cast<const __nv_bfloat16*>(output.weight),
                             output.bias,
                             y.data,
                             y.stride,
                             static_cast<int32_t>(y.cols),
                             blocks,
                             y.dtype == DType::f32};
    blocks += static_cast<int>(ceil_div(y.cols, kRows));
  }
  const int tokens = static_cast<int>(x.rows), cols = static_cast<int>(x.cols);
  const auto launch = [&](auto kernel) {
    launch_early(kernel, {static_cast<unsigned>(blocks), kThreads}, stream,
                 view<const __nv_bfloat16>(x), tokens, cols, list);
  };
  if (tokens <= 8) {
    launch(skinny_kernel<1>);
  } else {
    launch(skinny_kernel<2>);
  }
}

}  // namespace matador::cuda
