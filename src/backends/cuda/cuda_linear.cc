// The linear operations of CudaOps: which kernel, for which weight and how many tokens.
#include <algorithm>

#include "backends/cuda/cuda_ops.h"
#include "backends/cuda/error.h"
#include "backends/cuda/kernels/kernels.h"

namespace matador::cuda {
namespace {

// Up to how many tokens a quantised weight is decoded as it is multiplied.
constexpr int64_t kDecodingTokens = 4;
// Values of a quantised weight that are decoded for one matrix product.
constexpr int64_t kDecodedValues = int64_t{1} << 26;

bool is_aligned(const Tensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data) % 16 == 0 &&
         tensor.stride * static_cast<int64_t>(size_of(tensor.dtype)) % 16 == 0;
}

}  // namespace

bool CudaOps::is_dense(const Tensor& x, const Weight& w) const {
  return features_.tensor_cores && w.precision == Precision::fast && w.format->name == "bf16" &&
         w.cols % 8 == 0 && is_aligned(x);
}

Tensor CudaOps::as_bf16(const Tensor& x) {
  if (x.dtype == DType::bf16) return x;
  const Tensor y = make(x.rows, x.cols, DType::bf16);
  if (launch_) cuda::convert(x, y, stream_);
  return y;
}

void CudaOps::reserve_stream_workspace() {
  int device = 0, processors = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  const size_t sum_bytes = stream_sum_bytes(processors);
  const size_t ready_bytes = 2 * sizeof(int32_t) * static_cast<size_t>(processors);
  stream_memory_.reserve(sum_bytes + ready_bytes);
  std::byte* const ready = stream_memory_.as<std::byte>() + sum_bytes;
  check(cudaMemsetAsync(ready, 0, ready_bytes, stream_), "cudaMemset");
  stream_workspace_ = {stream_memory_.as<float4>(), reinterpret_cast<int32_t*>(ready), processors};
}

// Any number of tokens, few_tokens() at a time.
void CudaOps::few(const Tensor& x, std::span<const Weight* const> weights,
                  std::span<const Tensor> ys) {
  if (!launch_) return;
  const auto slice = [&](Tensor tensor, int64_t first) {
    tensor.data += first * tensor.stride * static_cast<int64_t>(size_of(tensor.dtype));
    tensor.rows = std::min(tensor.rows - first, few_tokens());
    return tensor;
  };
  for (int64_t first = 0; first < x.rows; first += few_tokens()) {
    std::vector<LinearOutput> outputs;
    for (size_t i = 0; i < weights.size(); ++i) {
      outputs.push_back({weights[i]->data, weights[i]->bias, slice(ys[i], first)});
    }
    if (hopper_) {
      stream_linear(slice(x, first), outputs, stream_workspace_, stream_);
    } else {
      skinny_linear(slice(x, first), outputs, stream_);
    }
  }
}

void CudaOps::dense(const Tensor& x, const Weight& w, const Tensor& y) {
  const Weight* const weight = &w;
  const bool fits = cublas_ != nullptr && w.rows % 8 == 0 && is_aligned(y);
  if (x.rows <= best_for_few() || !fits) return few(x, {&weight, 1}, {&y, 1});
  if (!launch_) return;
  cublas_->linear(x, w, y, stream_);
  if (w.bias != nullptr) cuda::add_bias(y, w.bias, stream_);
}

// A quantised weight for many tokens: decoded to bf16, some rows at a time.
void CudaOps::decoded(const Tensor& x, const Weight& w, const Tensor& y) {
  const int64_t rows = std::clamp(kDecodedValues / w.cols / 8 * 8, int64_t{8}, w.rows);
  const Tensor values = make(rows, w.cols, DType::bf16);
  for (int64_t first = 0; first < w.rows; first += rows) {
    Weight part = w;
    part.rows = std::min(rows, w.rows - first);
    part.data = w.data + first * w.row_bytes();
    part.bias = w.bias == nullptr ? nullptr : w.bias + first;
    if (launch_) cuda::decode_weight(part, values, stream_);
    part.data = values.data;
    dense(x, part, y.columns(first, part.rows));
  }
}

Tensor CudaOps::linear(const Tensor& x, const Weight& w) {
  const Tensor y = make(x.rows, w.rows, x.dtype);
  const bool decode_first = features_.tensor_cores && !features_.reproducible &&
                            w.precision == Precision::fast && w.format->block_values > 1 &&
                            is_aligned(x) && x.rows > kDecodingTokens;
  if (is_dense(x, w)) {
    dense(as_bf16(x), w, y);
  } else if (decode_first) {
    decoded(as_bf16(x), w, y);
  } else if (launch_) {
    cuda::generic_linear(x, w, y, stream_);
  }
  return y;
}

std::vector<Tensor> CudaOps::linears(const Tensor& x, std::span<const Weight* const> weights) {
  const bool together =
      x.rows <= (cublas_ ? best_for_few() : few_tokens()) && weights.size() <= kLinearOutputs &&
      std::ranges::all_of(weights, [&](const Weight* w) { return is_dense(x, *w); });
  if (!together) return Ops::linears(x, weights);
  std::vector<Tensor> ys;
  for (const Weight* w : weights) ys.push_back(make(x.rows, w->rows, x.dtype));
  few(as_bf16(x), weights, ys);
  return ys;
}

}  // namespace matador::cuda
