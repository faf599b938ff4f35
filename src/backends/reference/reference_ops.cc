#include "backends/reference/reference_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/reference/plain_math.h"

namespace matador {
namespace {

void normalise_group(std::span<const float> x, const Norm& norm, const float* weight, float* y) {
  const double count = static_cast<double>(x.size());
  double mean = 0;
  if (norm.kind == Norm::Kind::layer) {
    for (float value : x) mean += value;
    mean /= count;
  }
  double variance = 0;
  for (float value : x) variance += (value - mean) * (value - mean);
  const double scale = 1 / std::sqrt(variance / count + norm.eps);
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = static_cast<float>((x[i] - mean) * scale * (norm.weight_offset + weight[i]));
  }
}

// Where the keys (part 0) or values (part 1) of one head of one cached token lie: a block holds
// all its tokens' keys and then all their values.
std::byte* kv_head(const KvLayer& kv, int64_t slot, int32_t part, int32_t head) {
  const int64_t head_bytes = bytes_of(kv.type) * kv.head_dim;
  const int32_t stored_part = kv.latent > 0 ? 0 : part;
  const int64_t row = stored_part * kv.block_size + slot % kv.block_size;
  return static_cast<std::byte*>(kv.blocks) + slot / kv.block_size * kv.block_bytes +
         (row * kv.num_kv_heads + head) * head_bytes;
}

const Format& format_of(KvType type) {
  switch (type) {
    case KvType::f32: return *find_format("f32");
    case KvType::f16: return *find_format("f16");
    case KvType::bf16: return *find_format("bf16");
  }
  return *find_format("f32");
}

// One sequence's part of a batch, as attention reads it.
struct Context {
  const KvLayer& kv;
  const Batch& batch;
  int32_t sequence;

  std::vector<float> read(int32_t position, int32_t part, int32_t head) const {
    const int64_t entry = int64_t{sequence} * batch.block_table_stride + position / kv.block_size;
    const int32_t block = batch.block_tables[static_cast<size_t>(entry)];
    const int64_t slot = int64_t{block} * kv.block_size + position % kv.block_size;
    const int32_t width = part == 0 ? kv.head_dim : kv.value_dim();
    std::vector<float> values(static_cast<size_t>(width));
    format_of(kv.type).decode(kv_head(kv, slot, part, head), values.data(), width);
    return values;
  }
};

// A query of one head: its features, where it is, and the sink's score.
struct Query {
  int32_t position, head;
  const float* q;
  const float* sink;  // null: none
};

// One query over the positions it may see, with a softmax over all their scores.
void attend_head(const Context& context, const Attend& attend, const Query& query, float* out) {
  const auto [position, head, q, sink] = query;
  const int32_t kv_head = head / (attend.num_heads / attend.num_kv_heads);
  const int32_t first = first_seen(attend.window, attend.chunk, position);
  std::vector<double> scores;
  for (int32_t p = first; p <= position; ++p) {
    const std::vector<float> k = context.read(p, 0, kv_head);
    double score = 0;
    for (size_t i = 0; i < k.size(); ++i) score += double{q[i]} * k[i];
    score *= score_scale(attend, position);
    if (attend.softcap > 0) score = attend.softcap * std::tanh(score / attend.softcap);
    if (attend.alibi_max > 0)
      score += alibi_slope(attend, head) * static_cast<double>(p - position);
    scores.push_back(score);
  }
  double highest = *std::max_element(scores.begin(), scores.end());
  if (sink != nullptr) highest = std::max(highest, double{*sink});
  double total = sink != nullptr ? std::exp(*sink - highest) : 0;
  for (double& score : scores) total += score = std::exp(score - highest);
  std::vector<double> sum(static_cast<size_t>(context.kv.value_dim()));
  for (int32_t p = first; p <= position; ++p) {
    const std::vector<float> v = context.read(p, 1, kv_head);
    const double share = scores[static_cast<size_t>(p - first)] / total;
    for (size_t i = 0; i < v.size(); ++i) sum[i] += share * v[i];
  }
  std::transform(sum.begin(), sum.end(), out, [](double x) { return static_cast<float>(x); });
}

}  // namespace

Tensor ReferenceOps::make(int64_t rows, int64_t cols) {
  arena_.push_back(
      std::make_unique<float[]>(static_cast<size_t>(std::max<int64_t>(rows * cols, 1))));
  return {reinterpret_cast<std::byte*>(arena_.back().get()), DType::f32, rows, cols, cols};
}

Tensor ReferenceOps::embed(const Weight& table, const Batch& batch, float scale) {
  Tensor y = make(batch.num_tokens(), table.cols);
  for (int32_t t = 0; t < batch.num_tokens(); ++t) {
    const std::vector<float> values = decoded_row(table, batch.token_ids[static_cast<size_t>(t)]);
    for (size_t i = 0; i < values.size(); ++i) y.row<float>(t)[i] = scale * values[i];
  }
  return y;
}

Tensor ReferenceOps::embed_positions(const Weight& table, const Batch& batch, int32_t offset) {
  Tensor y = make(batch.num_tokens(), table.cols);
  for (int32_t t = 0; t < batch.num_tokens(); ++t) {
    const int32_t row = batch.positions[static_cast<size_t>(t)] + offset;
    std::ranges::copy(decoded_row(table, row), y.row<float>(t));
  }
  return y;
}

Tensor ReferenceOps::linear(const Tensor& x, const Weight& w) {
  Tensor y = make(x.rows, w.rows);
  for (int64_t out = 0; out < w.rows; ++out) {
    const std::vector<float> weights = decoded_row(w, out);
    for (int64_t t = 0; t < x.rows; ++t) {
      double sum = w.bias != nullptr ? w.bias[out] : 0;
      for (size_t i = 0; i < weights.size(); ++i) sum += double{weights[i]} * x.row<float>(t)[i];
      y.row<float>(t)[out] = static_cast<float>(sum);
    }
  }
  return y;
}

Tensor ReferenceOps::norm(const Tensor& x, const Norm& norm, const Weight& w) {
  const int64_t group = norm.group > 0 ? norm.group : x.cols;
  const std::vector<float> weight = decoded_row(w, 0);
  Tensor y = make(x.rows, x.cols);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t i = 0; i < x.cols; i += group) {
      // A weight as wide as the row has its own values for each group.
      const float* group_weight = weight.data() + (w.cols == group ? 0 : i);
      normalise_group({x.row<float>(t) + i, static_cast<size_t>(group)}, norm, group_weight,
                      y.row<float>(t) + i);
      if (w.bias == nullptr) continue;
      const float* bias = w.bias + (w.cols == group ? 0 : i);
      for (int64_t j = 0; j < group; ++j) y.row<float>(t)[i + j] += bias[j];
    }
  }
  return y;
}

Tensor ReferenceOps::add(const Tensor& x, const Tensor& y, float scale) {
  Tensor sum = make(x.rows, x.cols);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t i = 0; i < x.cols; ++i) {
      sum.row<float>(t)[i] = x.row<float>(t)[i] + scale * y.row<float>(t)[i];
    }
  }
  return sum;
}

Tensor ReferenceOps::multiply(const Tensor& x, const Tensor& y) {
  Tensor product = make(x.rows, x.cols);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t i = 0; i < x.cols; ++i) {
      product.row<float>(t)[i] = x.row<float>(t)[i] * y.row<float>(t)[i];
    }
  }
  return product;
}

Tensor ReferenceOps::activate(const Tensor& x, Act act) {
  Tensor y = make(x.rows, x.cols);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t i = 0; i < x.cols; ++i) y.row<float>(t)[i] = apply_act(x.row<float>(t)[i], act);
  }
  return y;
}

Tensor ReferenceOps::clamp(const Tensor& x, float limit) {
  Tensor y = make(x.rows, x.cols);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t i = 0; i < x.cols; ++i) {
      y.row<float>(t)[i] = std::clamp(x.row<float>(t)[i], -limit, limit);
    }
  }
  return y;
}

void ReferenceOps::rope(Tensor& heads, int32_t head_dim, const Rope& rope, const Batch& batch) {
  const int32_t half = rope.dim / 2;
  for (int64_t t = 0; t < heads.rows; ++t) {
    const size_t token = static_cast<size_t>(t);
    const std::vector<float> frequencies = rope.frequencies(batch.rope_lengths[token]);
    for (int64_t head = 0; head < heads.cols; head += head_dim) {
      float* x = heads.row<float>(t) + head;
      for (int32_t i = 0; i < half; ++i) {
        // The product is rounded to f32, as checkpoints were trained and published with.
        const float angle =
            static_cast<float>(batch.positions[token]) * frequencies[static_cast<size_t>(i)];
        const double cosine = rope.attention_factor * std::cos(double{angle});
        const double sine = rope.attention_factor * std::sin(double{angle});
        float& a = rope.interleaved ? x[2 * i] : x[i];
        float& b = rope.interleaved ? x[2 * i + 1] : x[i + half];
        const double old_a = a;
        a = static_cast<float>(old_a * cosine - b * sine);
        b = static_cast<float>(b * cosine + old_a * sine);
      }
    }
  }
}

void ReferenceOps::store_kv(const KvLayer& kv, const Tensor& k, const Tensor& v,
                            const Batch& batch) {
  const Format& format = format_of(kv.type);
  for (int32_t t = 0; t < batch.num_tokens(); ++t) {
    const int64_t slot = batch.slots[static_cast<size_t>(t)];
    for (int32_t head = 0; head < kv.num_kv_heads; ++head) {
      const int64_t offset = int64_t{head} * kv.head_dim;
      format.encode(k.row<float>(t) + offset, kv_head(kv, slot, 0, head), kv.head_dim);
      if (kv.latent > 0) continue;
      format.encode(v.row<float>(t) + offset, kv_head(kv, slot, 1, head), kv.head_dim);
    }
  }
}

Tensor ReferenceOps::attend(const Tensor& q, const KvLayer& kv, const Attend& attend,
                            const Batch& batch, const Weight* sinks) {
  Tensor y = make(q.rows, int64_t{attend.num_heads} * kv.value_dim());
  const std::vector<float> sink = sinks != nullptr ? decoded_row(*sinks, 0) : std::vector<float>();
  for (int32_t s = 0; s < batch.num_sequences(); ++s) {
    const Context context{kv, batch, s};
    for (int32_t t = batch.query_start[static_cast<size_t>(s)];
         t < batch.query_start[static_cast<size_t>(s) + 1]; ++t) {
      for (int32_t head = 0; head < attend.num_heads; ++head) {
        const Query query{batch.positions[static_cast<size_t>(t)], head,
                          q.row<float>(t) + int64_t{head} * attend.head_dim,
                          sinks != nullptr ? &sink[static_cast<size_t>(head)] : nullptr};
        attend_head(context, attend, query, y.row<float>(t) + int64_t{head} * kv.value_dim());
      }
    }
  }
  return y;
}

Tensor ReferenceOps::concat(const Tensor& x, const Tensor& y) {
  Tensor both = make(x.rows, x.cols + y.cols);
  for (int64_t t = 0; t < x.rows; ++t) {
    std::copy_n(x.row<float>(t), x.cols, both.row<float>(t));
    std::copy_n(y.row<float>(t), y.cols, both.row<float>(t) + x.cols);
  }
  return both;
}

Tensor ReferenceOps::take(const Tensor& x, std::span<const int32_t> rows) {
  Tensor y = make(static_cast<int64_t>(rows.size()), x.cols);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(y.row<float>(static_cast<int64_t>(i)), x.row<float>(rows[i]),
                static_cast<size_t>(x.cols) * sizeof(float));
  }
  return y;
}

Tensor ReferenceOps::scale_logits(const Tensor& x, float factor, float softcap) {
  Tensor y = make(x.rows, x.cols);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t i = 0; i < x.cols; ++i) {
      float value = x.row<float>(t)[i];
      if (softcap > 0) value = softcap * std::tanh(value / softcap);
      y.row<float>(t)[i] = factor * value;
    }
  }
  return y;
}

}  // namespace matador
