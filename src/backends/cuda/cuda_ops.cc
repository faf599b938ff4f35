#include "backends/cuda/cuda_ops.h"

#include <algorithm>

#include "backends/cuda/error.h"
#include "backends/cuda/kernels/kernels.h"

namespace matador::cuda {

CudaOps::CudaOps(cudaStream_t stream, Features features)
    : stream_(stream),
      features_{features.tensor_cores && has_tensor_code(), features.reproducible,
                features.shared_bytes},
      cublas_(features.reproducible ? nullptr : CublasLt::open()),
      hopper_(has_hopper()) {
  if (hopper_) reserve_stream_workspace();
}

void CudaOps::begin(bool launch) {
  launch_ = launch;
  capturable_ = true;
  arena_.clear();
}

void CudaOps::reserve_partials() {
  const size_t tasks = static_cast<size_t>(batch_.num_decode_tasks());
  if (partials_.reserve(tasks * partial_floats_ * sizeof(float))) partials_moved_ = true;
}

Tensor CudaOps::make(int64_t rows, int64_t cols, DType dtype) {
  return {arena_.allocate(static_cast<size_t>(rows * cols) * size_of(dtype)), dtype, rows, cols,
          cols};
}

Tensor CudaOps::embed(const Weight& table, const Batch& batch, float scale) {
  const DType dtype = table.precision == Precision::exact ? DType::f32 : DType::bf16;
  const Tensor y = make(batch.num_tokens(), table.cols, dtype);
  if (launch_) cuda::embed(table, batch_.arrays(), scale, y, stream_);
  return y;
}

Tensor CudaOps::embed_positions(const Weight& table, const Batch& batch, int32_t offset) {
  const DType dtype = table.precision == Precision::exact ? DType::f32 : DType::bf16;
  const Tensor y = make(batch.num_tokens(), table.cols, dtype);
  if (launch_) cuda::embed_positions(table, batch_.arrays(), offset, y, stream_);
  return y;
}

Tensor CudaOps::norm(const Tensor& x, const Norm& norm, const Weight& w) {
  const Tensor y = make(x.rows, x.cols, x.dtype);
  if (launch_) cuda::norm(x, norm, w, y, stream_);
  return y;
}

Tensor CudaOps::add(const Tensor& x, const Tensor& y, float scale) {
  const Tensor sum = make(x.rows, x.cols, x.dtype);
  if (launch_) cuda::add(x, y, scale, sum, stream_);
  return sum;
}

Tensor CudaOps::multiply(const Tensor& x, const Tensor& y) {
  const Tensor product = make(x.rows, x.cols, x.dtype);
  if (launch_) cuda::multiply(x, y, product, stream_);
  return product;
}

Tensor CudaOps::activate(const Tensor& x, Act act) {
  const Tensor y = make(x.rows, x.cols, x.dtype);
  if (launch_) cuda::activate(x, act, y, stream_);
  return y;
}

Tensor CudaOps::clamp(const Tensor& x, float limit) {
  const Tensor y = make(x.rows, x.cols, x.dtype);
  if (launch_) cuda::clamp(x, limit, y, stream_);
  return y;
}

Tensor CudaOps::gated(const Tensor& gate, const Tensor& up, Act act) {
  const Tensor y = make(gate.rows, gate.cols, gate.dtype);
  if (launch_) cuda::gated(gate, up, act, y, stream_);
  return y;
}

std::pair<Tensor, Tensor> CudaOps::add_norm(const Tensor& x, const Tensor& y, const Norm& norm,
                                            const Weight& w) {
  if (norm.group > 0 && norm.group != x.cols) return Ops::add_norm(x, y, norm, w);
  const Tensor normed = make(x.rows, x.cols, x.dtype);
  const Tensor sum = make(x.rows, x.cols, x.dtype);
  if (launch_) cuda::add_norm(x, y, norm, w, normed, sum, stream_);
  return {normed, sum};
}

void CudaOps::rope(Tensor& heads, int32_t head_dim, const Rope& rope, const Batch& batch) {
  const RopeAngles angles = batch_.angles(rope, batch);
  if (launch_) cuda::rope(heads, head_dim, rope, angles, batch_.arrays(), stream_);
}

void CudaOps::store_kv(const KvLayer& kv, const Tensor& k, const Tensor& v, const Batch&) {
  if (launch_) cuda::store_kv(kv, k, v, batch_.arrays(), stream_);
}

Tensor CudaOps::attend(const Tensor& q, const KvLayer& kv, const Attend& attend, const Batch& batch,
                       const Weight* sinks) {
  const Tensor y = make(q.rows, int64_t{attend.num_heads} * kv.value_dim(), q.dtype);
  if (!launch_) return y;
  if (!features_.tensor_cores || q.dtype != DType::bf16 || sinks != nullptr ||
      !has_tensor_attend(kv, attend, features_.shared_bytes)) {
    const auto* scores = sinks != nullptr ? reinterpret_cast<const float*>(sinks->data) : nullptr;
    cuda::attend_generic(q, kv, attend, batch_.arrays(), scores, y, stream_);
    return y;
  }
  const bool hopper = hopper_ && has_hopper_attend(kv, attend);
  const bool decodes_too = attend.num_heads / attend.num_kv_heads > kDecodeGroup;
  if (decodes_too || !batch_.only_decodes()) {
    const PrefillRows rows{batch.query_start, decodes_too};
    const auto prefill = hopper ? cuda::attend_hopper : cuda::attend_prefill;
    prefill(q, kv, attend, batch_.arrays(), rows, y, stream_);
  }
  if (!decodes_too && batch_.num_decode_tasks() > 0) {
    partial_floats_ = std::max(partial_floats_, decode_partial_floats(attend));
    reserve_partials();
    float* const partials = partials_.as<float>();
    const auto splits = hopper ? attend_splits_hopper : attend_splits;
    splits(q, kv, attend, batch_.arrays(), partials, stream_);
    merge_splits(partials, attend, batch_.arrays(), y, stream_);
  }
  return y;
}

Tensor CudaOps::concat(const Tensor& x, const Tensor& y) {
  const Tensor both = make(x.rows, x.cols + y.cols, x.dtype);
  if (launch_) {
    convert(x, both.columns(0, x.cols), stream_);
    convert(y, both.columns(x.cols, y.cols), stream_);
  }
  return both;
}

Tensor CudaOps::take(const Tensor& x, std::span<const int32_t> rows) {
  const Tensor y = make(static_cast<int64_t>(rows.size()), x.cols, x.dtype);
  const int32_t* on_device = batch_.arrays().logit_tokens;
  if (!batch_.is_logit_tokens(rows)) {
    capturable_ = false;
    std::byte* copy = arena_.allocate(rows.size_bytes());
    on_device = reinterpret_cast<const int32_t*>(copy);
    check(cudaMemcpyAsync(copy, rows.data(), rows.size_bytes(), cudaMemcpyHostToDevice, stream_),
          "copying row numbers");
  }
  if (launch_) cuda::take(x, on_device, y, stream_);
  return y;
}

Tensor CudaOps::scale_logits(const Tensor& x, float factor, float softcap) {
  const Tensor y = make(x.rows, x.cols, DType::f32);
  if (launch_) cuda::scale_logits(x, factor, softcap, y, stream_);
  return y;
}

void CudaOps::draw(const Tensor& logits, const Draws&) {
  const Tensor scratch = make(batch_.draws().count, logits.cols, DType::f32);
  if (launch_) draw_tokens(logits, scratch, batch_.draws(), drawn_.output(), stream_);
}

void CudaOps::release_except(std::span<const Tensor> live) {
  std::vector<const std::byte*> addresses;
  for (const Tensor& tensor : live) addresses.push_back(tensor.data);
  arena_.release_except(addresses);
}

}  // namespace matador::cuda
