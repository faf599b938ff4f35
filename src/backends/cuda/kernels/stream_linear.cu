// x W^T for up to kStreamTokens tokens on Hopper (sm_90a): weights stream through shared memory at
// the speed of device memory, and the tensor cores multiply them by all tokens at once.
//
// Work is counted in blocks of kBoxColumns of K for a tile of kRows output features. The blocks of
// all tiles are dealt out evenly, a run of them to each thread block (Stream-K, arXiv 2301.03598),
// so a tile's sum may be made of several pieces. The thread block with a tile's first piece adds
// the others in order. Where the cuts are depends on the weights' shapes only, and a product's sum
// does not depend on how many tokens there are beside it: a token has the same bits in any batch.
//
// One warp asks for the boxes, as far ahead as there is room; two warpgroups multiply, 64 features
// each. The weights of the first blocks are asked for before the kernel ahead has ended.
#include <algorithm>

#include "backends/cuda/kernels/early_start.cuh"
#include "backends/cuda/kernels/element.cuh"
#include "backends/cuda/kernels/kernels.h"
#include "backends/cuda/kernels/wgmma.cuh"

namespace matador::cuda {
namespace {

constexpr int kGroups = 2;  // warpgroups that multiply
constexpr int kGroupThreads = 128;
constexpr int kThreads = kGroups * kGroupThreads + 32;
constexpr int kRows = 64 * kGroups;
constexpr int kWeightBytes = kRows * kBoxColumns * 2;
// A thread block has at least so many blocks of work, or small products would be all overhead.
constexpr int64_t kLeastWork = 4;

template <int kTokens>
struct StreamShape {
  static constexpr int kProduct = kTokens >= 128 ? 128 : kTokens >= 32 ? 32 : 8;
  static constexpr int kProducts = kTokens / kProduct;
  static constexpr int kSums = kTokens / 2;  // of a thread
  static constexpr int kStageBytes = kWeightBytes + kTokens * kBoxColumns * 2;
  // One thread block a processor, or early ones would crowd on those that are free first.
  static constexpr int kStages = 208 * 1024 / kStageBytes;
  static constexpr int kSharedBytes = kStages * kStageBytes + 1024;
};

struct StreamOutput {
  const float* bias;
  void* y;
  int64_t y_stride;
  int32_t rows;
  int32_t first_tile;
  bool f32;
};

struct Stream {
  CUtensorMap x;
  CUtensorMap weights[kLinearOutputs];
  StreamOutput outputs[kLinearOutputs];
  int32_t count;
  int32_t tokens;
  int32_t tile_blocks;  // of K
  int32_t num_blocks;   // of all tiles
  StreamWorkspace workspace;

  __device__ int first_block(int thread_block) const {
    return static_cast<int>(int64_t{num_blocks} * thread_block / gridDim.x);
  }
  // Thread blocks whose runs begin before `block`.
  __device__ int thread_blocks_before(int block) const {
    return static_cast<int>((int64_t{block} * gridDim.x + num_blocks - 1) / num_blocks);
  }
  __device__ int output_of(int tile) const {
    int index = 0;
    while (index + 1 < count && tile >= outputs[index + 1].first_tile) ++index;
    return index;
  }
};

template <int kTokens>
struct Stages {
  using Shape = StreamShape<kTokens>;
  std::byte* boxes;
  Barrier* full;
  Barrier* empty;

  __device__ std::byte* weights(int index) const {
    return boxes + index % Shape::kStages * Shape::kStageBytes;
  }
  __device__ std::byte* inputs(int index) const { return weights(index) + kWeightBytes; }
  __device__ Barrier& filled(int index) const { return full[index % Shape::kStages]; }
  __device__ Barrier& freed(int index) const { return empty[index % Shape::kStages]; }
  static __device__ uint32_t parity(int index) { return index / Shape::kStages % 2; }
};

// One thread: all boxes of the thread block's run, in order.
template <int kTokens>
__device__ __forceinline__ void load_boxes(const Stream& stream, const Stages<kTokens>& stages) {
  using Shape = StreamShape<kTokens>;
  const int first = stream.first_block(blockIdx.x);
  const int count = stream.first_block(blockIdx.x + 1) - first;
  const auto load_weights = [&](int i) {
    const int tile = (first + i) / stream.tile_blocks;
    const int column = (first + i) % stream.tile_blocks * kBoxColumns;
    const int output = stream.output_of(tile);
    stages.filled(i).arrive_expecting(Shape::kStageBytes);
    load_box(stages.weights(i), stream.weights[output], column,
             (tile - stream.outputs[output].first_tile) * kRows, stages.filled(i), kEvictFirst);
  };
  for (int i = 0; i < min(count, Shape::kStages); ++i) load_weights(i);
  wait_for_previous();  // the weights are nobody's result, x is
  for (int i = 0; i < count; ++i) {
    if (i >= Shape::kStages) {
      stages.freed(i).wait(Stages<kTokens>::parity(i) ^ 1);
      load_weights(i);
    }
    load_box(stages.inputs(i), stream.x, (first + i) % stream.tile_blocks * kBoxColumns, 0,
             stages.filled(i), kEvictLast);
  }
}

// A warpgroup's sums over blocks [index, index + count) of the run.
template <int kTokens>
__device__ __forceinline__ void sum_blocks(const Stages<kTokens>& stages, int index, int count,
                                           int group, float (&sums)[StreamShape<kTokens>::kSums]) {
  using Shape = StreamShape<kTokens>;
  using Product = float[Shape::kProduct / 2];
  const bool speaks = threadIdx.x % 32 == 0;
  for (int i = 0; i < count; ++i) {
    stages.filled(index + i).wait(Stages<kTokens>::parity(index + i));
    const uint64_t a = operand(stages.weights(index + i) + group * 64 * kBoxColumns * 2);
    const uint64_t b = operand(stages.inputs(index + i));
    begin_products();
#pragma unroll
    for (int k = 0; k < kBoxColumns / 16; ++k) {
#pragma unroll
      for (int p = 0; p < Shape::kProducts; ++p) {
        constexpr uint64_t kNextTokens = Shape::kProduct * kBoxColumns * 2 >> 4;
        multiply_async<Shape::kProduct>(*reinterpret_cast<Product*>(sums + p * Shape::kProduct / 2),
                                        a + k * kNextSixteen,
                                        b + k * kNextSixteen + p * kNextTokens);
      }
    }
    commit_products();
    wait_products<1>();
    if (i > 0 && speaks) stages.freed(index + i - 1).arrive();
  }
  wait_products<0>();
  if (speaks) stages.freed(index + count - 1).arrive();
}

// A warpgroup's place for a piece that another thread block adds, and the sign that it is there.
struct Piece {
  float4* sums;
  int32_t* ready;

  template <int kSums>
  static __device__ Piece of(const StreamWorkspace& workspace, int thread_block, int group) {
    const int index = thread_block * kGroups + group;
    return {workspace.sums + int64_t{index} * (kSums / 4) * kGroupThreads, workspace.ready + index};
  }
};

__device__ __forceinline__ void synchronise_group(int group) {
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(kGroupThreads) : "memory");
}

template <int kSums>
__device__ __forceinline__ void leave_piece(const Piece& piece, const float (&sums)[kSums],
                                            int group) {
  const int thread = threadIdx.x % kGroupThreads;
#pragma unroll
  for (int i = 0; i < kSums; i += 4) {
    piece.sums[i / 4 * kGroupThreads + thread] =
        float4{sums[i], sums[i + 1], sums[i + 2], sums[i + 3]};
  }
  __threadfence();
  synchronise_group(group);
  if (thread == 0) {
    asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(piece.ready) : "memory");
  }
}

// Adds the pieces of `count` thread blocks from the `first` on, in order.
template <int kSums>
__device__ __forceinline__ void add_pieces(const StreamWorkspace& workspace, int first, int count,
                                           int group, float (&sums)[kSums]) {
  const int thread = threadIdx.x % kGroupThreads;
  for (int i = thread; i < count; i += kGroupThreads) {
    int32_t* const sign = Piece::of<kSums>(workspace, first + i, group).ready;
    int32_t ready = 0;
    while (ready == 0) {
      asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(ready) : "l"(sign) : "memory");
    }
    *sign = 0;  // for the next kernel
  }
  synchronise_group(group);
#pragma unroll(kSums <= 16 ? 4 : 1)
  for (int i = 0; i < count; ++i) {
    const Piece piece = Piece::of<kSums>(workspace, first + i, group);
#pragma unroll
    for (int j = 0; j < kSums; j += 4) {
      const float4 other = __ldcg(piece.sums + j / 4 * kGroupThreads + thread);
      sums[j] += other.x;
      sums[j + 1] += other.y;
      sums[j + 2] += other.z;
      sums[j + 3] += other.w;
    }
  }
}

template <int kSums>
__device__ __forceinline__ void store_tile(const Stream& stream, int tile, int group,
                                           const float (&sums)[kSums]) {
  const StreamOutput& out = stream.outputs[stream.output_of(tile)];
  const int lane = threadIdx.x % 32, warp = threadIdx.x % kGroupThreads / 32;
  const int row = (tile - out.first_tile) * kRows + group * 64 + warp * 16 + lane / 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int feature = row + 8 * half;
    if (feature >= out.rows) continue;
    const float bias = out.bias != nullptr ? out.bias[feature] : 0;
#pragma unroll
    for (int i = 0; i < kSums / 2; ++i) {
      const int token = i / 2 * 8 + lane % 4 * 2 + i % 2;
      if (token >= stream.tokens) continue;
      const float sum = sums[i / 2 * 4 + half * 2 + i % 2] + bias;
      const int64_t at = token * out.y_stride + feature;
      if (out.f32) {
        static_cast<float*>(out.y)[at] = sum;
      } else {
        store(static_cast<__nv_bfloat16*>(out.y) + at, sum);
      }
    }
  }
}

template <int kTokens>
__device__ __forceinline__ void multiply(const Stream& stream, const Stages<kTokens>& stages) {
  using Shape = StreamShape<kTokens>;
  const int group = threadIdx.x / kGroupThreads;
  const int first = stream.first_block(blockIdx.x), end = stream.first_block(blockIdx.x + 1);
  wait_for_previous();
  for (int block = first; block < end;) {
    const int tile = block / stream.tile_blocks;
    const int tile_end = (tile + 1) * stream.tile_blocks;
    const int count = min(tile_end, end) - block;
    float sums[Shape::kSums] = {};
    sum_blocks<kTokens>(stages, block - first, count, group, sums);
    if (block > tile * stream.tile_blocks) {
      leave_piece<Shape::kSums>(Piece::of<Shape::kSums>(stream.workspace, blockIdx.x, group), sums,
                                group);
    } else {
      const int others = stream.thread_blocks_before(tile_end) - blockIdx.x - 1;
      add_pieces<Shape::kSums>(stream.workspace, blockIdx.x + 1, others, group, sums);
      store_tile<Shape::kSums>(stream, tile, group, sums);
    }
    block += count;
  }
}

template <int kTokens>
__global__ void __launch_bounds__(kThreads, 1)
    stream_kernel(const __grid_constant__ Stream stream) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Shape = StreamShape<kTokens>;
  let_next_start();
  extern __shared__ std::byte shared[];
  __shared__ Barrier full[Shape::kStages], empty[Shape::kStages];
  std::byte* const boxes = shared + (1024 - shared_address(shared) % 1024) % 1024;
  const Stages<kTokens> stages{boxes, full, empty};
  if (threadIdx.x == 0) {
    for (int i = 0; i < Shape::kStages; ++i) {
      full[i].initialise(1);
      empty[i].initialise(kGroups * kGroupThreads / 32);
    }
    fence_barriers();
  }
  __syncthreads();
  if (threadIdx.x >= kGroups * kGroupThreads) {
    if (threadIdx.x % 32 == 0) load_boxes(stream, stages);
  } else {
    multiply(stream, stages);
  }
#endif
}

template <int kTokens>
void launch(const Stream& stream, cudaStream_t on) {
  constexpr int kShared = StreamShape<kTokens>::kSharedBytes;
  const auto kernel = stream_kernel<kTokens>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
        "cudaFuncSetAttribute");
  const int64_t wanted = std::max<int64_t>(stream.num_blocks / kLeastWork, 1);
  const auto blocks = std::min<int64_t>(stream.workspace.thread_blocks, wanted);
  launch_early(kernel, {static_cast<unsigned>(blocks), kThreads, kShared}, on, stream);
}

// Calls visit.operator()<kTokens>() for the smallest shape with room for them.
template <class Visitor>
void with_tokens(int64_t tokens, Visitor&& visit) {
  if (tokens <= 8) return visit.template operator()<8>();
  if (tokens <= 16) return visit.template operator()<16>();
  if (tokens <= 32) return visit.template operator()<32>();
  if (tokens <= 64) return visit.template operator()<64>();
  if (tokens <= 128) return visit.template operator()<128>();
  return visit.template operator()<kStreamTokens>();
}

}  // namespace

bool has_hopper() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, stream_kernel<8>), "cudaFuncGetAttributes");
  return attributes.binaryVersion == 90 && attributes.ptxVersion == 90;
}

size_t stream_sum_bytes(int32_t thread_blocks) {
  return size_t{kGroups} * kGroupThreads * StreamShape<kStreamTokens>::kSums * sizeof(float) *
         static_cast<size_t>(thread_blocks);
}

void stream_linear(const Tensor& x, std::span<const LinearOutput> outputs,
                   const StreamWorkspace& workspace, cudaStream_t on) {
  if (x.rows == 0) return;
  Stream stream{};
  stream.tokens = static_cast<int32_t>(x.rows);
  stream.tile_blocks = static_cast<int32_t>(ceil_div(x.cols, kBoxColumns));
  stream.workspace = workspace;
  int64_t tiles = 0;
  for (const LinearOutput& output : outputs) {
    const Tensor& y = output.y;
    auto* const weight = static_cast<std::byte*>(const_cast<void*>(output.weight));
    stream.weights[stream.count] = box_map({weight, DType::bf16, y.cols, x.cols, x.cols}, kRows);
    stream.outputs[stream.count++] = {output.bias,
                                      y.data,
                                      y.stride,
                                      static_cast<int32_t>(y.cols),
                                      static_cast<int32_t>(tiles),
                                      y.dtype == DType::f32};
    tiles += ceil_div(y.cols, kRows);
  }
  stream.num_blocks = static_cast<int32_t>(tiles * stream.tile_blocks);
  with_tokens(x.rows, [&]<int kTokens>() {
    stream.x = box_map(x, kTokens);
    launch<kTokens>(stream, on);
  });
}

}  // namespace matador::cuda
