// Mixture-of-experts and per-head projections, as plain loops.
#include "backends/reference/plain_math.h"
#include "backends/reference/reference_ops.h"
#include "backends/routing.h"

namespace matador {
namespace {

// What one expert makes of x.
std::vector<float> apply_expert(const ExpertWeights& weights, const Expert& expert, int32_t index,
                                const float* x) {
  const Weight& up = *weights.up;
  const Weight& down = *weights.down;
  std::vector<float> inner(static_cast<size_t>(up.rows));
  for (int64_t i = 0; i < up.rows; ++i) {
    const int64_t row = index * up.rows + i;
    float value = dot_row(up, row, x);
    if (weights.gate == nullptr) {
      inner[static_cast<size_t>(i)] = apply_act(value, expert.act);
      continue;
    }
    float gate = dot_row(*weights.gate, row, x);
    if (expert.limit > 0) {
      gate = std::min(gate, expert.limit);
      value = std::clamp(value, -expert.limit, expert.limit);
    }
    inner[static_cast<size_t>(i)] = apply_act(gate, expert.act) * (value + expert.up_offset);
  }
  std::vector<float> result(static_cast<size_t>(down.rows));
  for (int64_t i = 0; i < down.rows; ++i) {
    result[static_cast<size_t>(i)] = dot_row(down, index * down.rows + i, inner.data());
  }
  return result;
}

}  // namespace

Routes ReferenceOps::route(const Tensor& logits, const Routing& routing, const Weight* correction) {
  Routes routes{make(logits.rows, routing.top_k), make(logits.rows, routing.top_k)};
  routes.experts.dtype = DType::i32;
  const std::vector<float> bias =
      correction != nullptr ? decoded_row(*correction, 0) : std::vector<float>();
  std::vector<float> scores(static_cast<size_t>(routing.num_experts));
  for (int64_t t = 0; t < logits.rows; ++t) {
    matador::route(routing, logits.row<const float>(t), bias.empty() ? nullptr : bias.data(),
                   scores.data(), routes.experts.row<int32_t>(t), routes.weights.row<float>(t));
  }
  return routes;
}

Tensor ReferenceOps::experts(const Tensor& x, const Routes& routes, const ExpertWeights& weights,
                             const Expert& expert) {
  Tensor y = make(x.rows, weights.down->rows);
  for (int64_t t = 0; t < x.rows; ++t) {
    std::vector<double> sum(static_cast<size_t>(y.cols));
    for (int64_t j = 0; j < routes.experts.cols; ++j) {
      const float weight = routes.weights.row<const float>(t)[j];
      std::vector<float> input(x.row<const float>(t), x.row<const float>(t) + x.cols);
      if (expert.weigh_input) {
        for (float& value : input) value *= weight;
      }
      const std::vector<float> result =
          apply_expert(weights, expert, routes.experts.row<const int32_t>(t)[j], input.data());
      const double share = expert.weigh_input ? 1 : weight;
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += share * result[i];
    }
    std::ranges::copy(sum, y.row<float>(t));
  }
  return y;
}

Tensor ReferenceOps::linear_heads(const Tensor& x, const Weight& w) {
  const int64_t head_dim = x.cols / w.count;
  const int64_t width = w.rows + head_dim - w.cols;
  Tensor y = make(x.rows, w.count * width);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t head = 0; head < w.count; ++head) {
      const float* from = x.row<const float>(t) + head * head_dim;
      float* to = y.row<float>(t) + head * width;
      for (int64_t i = 0; i < w.rows; ++i) to[i] = dot_row(w, head * w.rows + i, from);
      std::copy(from + w.cols, from + head_dim, to + w.rows);
    }
  }
  return y;
}

}  // namespace matador
