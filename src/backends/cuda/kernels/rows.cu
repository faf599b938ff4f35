// Whole rows by index: embedding and take.
#include "backends/cuda/kernels/format.cuh"
#include "backends/cuda/kernels/kernels.h"

namespace matador::cuda {
namespace {

constexpr int kThreads = 128;

template <class F, class Y>
__global__ void embed_kernel(const typename F::Block* table, int64_t row_blocks, const int32_t* ids,
                             int32_t offset, float scale, View<Y> y) {
  const auto* row = table + (int64_t{ids[blockIdx.x]} + offset) * row_blocks;
  for (int64_t i = threadIdx.x; i < row_blocks; i += kThreads) {
    float values[F::values];
    F::decode(row[i], values);
    for (int j = 0; j < F::values; ++j) {
      store(y.row(blockIdx.x) + i * F::values + j, scale * values[j]);
    }
  }
}

template <class F, class Y>
__global__ void decode_kernel(const typename F::Block* blocks, int64_t row_blocks, View<Y> y) {
  const int64_t row = blockIdx.y;
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= row_blocks) return;
  float values[F::values];
  F::decode(blocks[row * row_blocks + i], values);
  for (int j = 0; j < F::values; ++j) store(y.row(row) + i * F::values + j, values[j]);
}

template <class X>
__global__ void take_kernel(View<const X> x, const int32_t* rows, int64_t cols, View<X> y) {
  const X* from = x.row(rows[blockIdx.x]);
  for (int64_t i = threadIdx.x; i < cols; i += kThreads) y.row(blockIdx.x)[i] = from[i];
}

// y = scale * the rows ids + offset of the table.
void lookup(const Weight& table, const int32_t* ids, int32_t offset, float scale, const Tensor& y,
            cudaStream_t stream) {
  if (y.rows == 0) return;
  with_format(*table.format, [&]<class F>() {
    with_type(y.dtype, [&]<class Y>() {
      embed_kernel<F><<<static_cast<unsigned>(y.rows), kThreads, 0, stream>>>(
          reinterpret_cast<const typename F::Block*>(table.data), table.cols / F::values, ids,
          offset, scale, view<Y>(y));
    });
  });
  check_launch("embed_kernel");
}

}  // namespace

void embed(const Weight& table, const BatchArrays& batch, float scale, const Tensor& y,
           cudaStream_t stream) {
  lookup(table, batch.token_ids, 0, scale, y, stream);
}

void embed_positions(const Weight& table, const BatchArrays& batch, int32_t offset, const Tensor& y,
                     cudaStream_t stream) {
  lookup(table, batch.positions, offset, 1, y, stream);
}

void take(const Tensor& x, const int32_t* rows, const Tensor& y, cudaStream_t stream) {
  if (y.rows == 0) return;
  with_type(x.dtype, [&]<class X>() {
    take_kernel<<<static_cast<unsigned>(y.rows), kThreads, 0, stream>>>(view<const X>(x), rows,
                                                                        x.cols, view<X>(y));
  });
  check_launch("take_kernel");
}

void decode_weight(const Weight& w, const Tensor& y, cudaStream_t stream) {
  with_format(*w.format, [&]<class F>() {
    with_type(y.dtype, [&]<class Y>() {
      const int64_t row_blocks = w.cols / F::values;
      const auto* blocks = reinterpret_cast<const typename F::Block*>(w.data);
      constexpr int64_t kMostRows = 65535;  // of a grid's second dimension
      const int64_t rows = w.count * w.rows;
      for (int64_t row = 0; row < rows; row += kMostRows) {
        const dim3 grid(static_cast<unsigned>(ceil_div(row_blocks, kThreads)),
                        static_cast<unsigned>(std::min(kMostRows, rows - row)));
        decode_kernel<F><<<grid, kThreads, 0, stream>>>(
            blocks + row * row_blocks, row_blocks,
            View<Y>{reinterpret_cast<Y*>(y.data) + row * y.stride, y.stride});
      }
    });
  });
  check_launch("decode_kernel");
}

}  // namespace matador::cuda
