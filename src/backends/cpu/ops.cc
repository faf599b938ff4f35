#include "backends/cpu/ops.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/attention.h"

namespace matador::cpu {

Tensor CpuOps::make(int64_t rows, int64_t cols) {
  return {arena_.allocate(static_cast<size_t>(rows * cols) * sizeof(float)), DType::f32, rows, cols,
          cols};
}

Tensor CpuOps::embed(const Weight& table, const Batch& batch, float scale) {
  Tensor y = make(batch.num_tokens(), table.cols);
  for_rows(y.rows, y.cols, [&](int64_t row) {
    float* out = y.row<float>(row);
    decode_rows(table, batch.token_ids[static_cast<size_t>(row)], 1, out);
    if (scale == 1) return;
    for (int64_t i = 0; i < y.cols; ++i) out[i] *= scale;
  });
  return y;
}

Tensor CpuOps::embed_positions(const Weight& table, const Batch& batch, int32_t offset) {
  Tensor y = make(batch.num_tokens(), table.cols);
  for_rows(y.rows, y.cols, [&](int64_t row) {
    decode_rows(table, batch.positions[static_cast<size_t>(row)] + offset, 1, y.row<float>(row));
  });
  return y;
}

Tensor CpuOps::linear(const Tensor& x, const Weight& w) {
  Tensor y = make(x.rows, w.rows);
  const Weight* weight = &w;
  cpu::multiply(context_, x, {&weight, 1}, {&y, 1});
  return y;
}

std::vector<Tensor> CpuOps::linears(const Tensor& x, std::span<const Weight* const> weights) {
  std::vector<Tensor> results;
  results.reserve(weights.size());
  for (const Weight* w : weights) results.push_back(make(x.rows, w->rows));
  cpu::multiply(context_, x, weights, results);
  return results;
}

void CpuOps::norm_row(const float* x, const Norm& norm, const Weight& w, int64_t cols,
                      float* out) const {
  const int64_t group = norm.group > 0 ? norm.group : cols;
  const std::vector<float>& weight = loaded(w).vector;
  for (int64_t i = 0; i < cols; i += group) {
    // A weight as wide as the row has its own values for each group.
    const int64_t offset = w.cols == group ? 0 : i;
    kernels_.norm(x + i, norm, weight.data() + offset,
                  w.bias == nullptr ? nullptr : w.bias + offset, out + i, group);
  }
}

Tensor CpuOps::norm(const Tensor& x, const Norm& norm, const Weight& w) {
  Tensor y = make(x.rows, x.cols);
  for_rows(x.rows, x.cols, [&](int64_t row) {
    norm_row(x.row<const float>(row), norm, w, x.cols, y.row<float>(row));
  });
  return y;
}

std::pair<Tensor, Tensor> CpuOps::add_norm(const Tensor& x, const Tensor& y, const Norm& norm,
                                           const Weight& w) {
  Tensor sum = make(x.rows, x.cols);
  Tensor normed = make(x.rows, x.cols);
  for_rows(x.rows, x.cols, [&](int64_t row) {
    kernels_.add(x.row<const float>(row), y.row<const float>(row), 1, sum.row<float>(row), x.cols);
    norm_row(sum.row<const float>(row), norm, w, x.cols, normed.row<float>(row));
  });
  return {normed, sum};
}

Tensor CpuOps::add(const Tensor& x, const Tensor& y, float scale) {
  Tensor sum = make(x.rows, x.cols);
  for_rows(x.rows, x.cols, [&](int64_t row) {
    kernels_.add(x.row<const float>(row), y.row<const float>(row), scale, sum.row<float>(row),
                 x.cols);
  });
  return sum;
}

Tensor CpuOps::multiply(const Tensor& x, const Tensor& y) {
  Tensor product = make(x.rows, x.cols);
  for_rows(x.rows, x.cols, [&](int64_t row) {
    kernels_.multiply(x.row<const float>(row), y.row<const float>(row), product.row<float>(row),
                      x.cols);
  });
  return product;
}

Tensor CpuOps::activate(const Tensor& x, Act act) {
  Tensor y = make(x.rows, x.cols);
  for_rows(x.rows, x.cols, [&](int64_t row) {
    kernels_.activate(x.row<const float>(row), act, y.row<float>(row), x.cols);
  });
  return y;
}

Tensor CpuOps::clamp(const Tensor& x, float limit) {
  Tensor y = make(x.rows, x.cols);
  for_rows(x.rows, x.cols, [&](int64_t row) {
    kernels_.clamp(x.row<const float>(row), limit, y.row<float>(row), x.cols);
  });
  return y;
}

Tensor CpuOps::gated(const Tensor& gate, const Tensor& up, Act act) {
  Tensor y = make(gate.rows, gate.cols);
  for_rows(gate.rows, gate.cols, [&](int64_t row) {
    kernels_.gated(gate.row<const float>(row), up.row<const float>(row), act, y.row<float>(row),
                   gate.cols);
  });
  return y;
}

void CpuOps::rope(Tensor& heads, int32_t head_dim, const Rope& rope, const Batch& batch) {
  const RopeTable& table = ropes_.get(rope, batch);
  for_rows(heads.rows, heads.cols, [&](int64_t row) {
    const int64_t offset = row * (rope.dim / 2);
    for (int64_t head = 0; head < heads.cols; head += head_dim) {
      kernels_.rope(heads.row<float>(row) + head, table.cosines.data() + offset,
                    table.sines.data() + offset, rope.dim, rope.interleaved);
    }
  });
}

void CpuOps::store_kv(const KvLayer& kv, const Tensor& k, const Tensor& v, const Batch& batch) {
  cpu::store_kv(context_, kv, k, v, batch);
}

Tensor CpuOps::attend(const Tensor& q, const KvLayer& kv, const Attend& attend, const Batch& batch,
                      const Weight* sinks) {
  Tensor out = make(q.rows, int64_t{attend.num_heads} * kv.value_dim());
  const float* scores = sinks != nullptr ? loaded(*sinks).vector.data() : nullptr;
  cpu::attend(context_, q, {kv, attend, batch, scores}, out);
  return out;
}

Tensor CpuOps::concat(const Tensor& x, const Tensor& y) {
  Tensor both = make(x.rows, x.cols + y.cols);
  for_rows(x.rows, both.cols, [&](int64_t row) {
    std::copy_n(x.row<const float>(row), x.cols, both.row<float>(row));
    std::copy_n(y.row<const float>(row), y.cols, both.row<float>(row) + x.cols);
  });
  return both;
}

Tensor CpuOps::take(const Tensor& x, std::span<const int32_t> rows) {
  Tensor y = make(static_cast<int64_t>(rows.size()), x.cols);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(y.row<float>(static_cast<int64_t>(i)), x.row<const float>(rows[i]),
                static_cast<size_t>(x.cols) * sizeof(float));
  }
  return y;
}

Tensor CpuOps::scale_logits(const Tensor& x, float factor, float softcap) {
  Tensor y = make(x.rows, x.cols);
  for_rows(x.rows, x.cols, [&](int64_t row) {
    kernels_.scale_logits(x.row<const float>(row), factor, softcap, y.row<float>(row), x.cols);
  });
  return y;
}

void CpuOps::release_except(std::span<const Tensor> live) {
  live_.clear();
  for (const Tensor& tensor : live) {
    const int64_t elements = (tensor.rows - 1) * tensor.stride + tensor.cols;
    if (tensor.rows > 0) {
      live_.emplace_back(tensor.data, static_cast<size_t>(elements) * size_of(tensor.dtype));
    }
  }
  arena_.keep(live_);
}

}  // namespace matador::cpu
