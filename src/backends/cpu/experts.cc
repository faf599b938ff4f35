// Mixture of experts: tokens are grouped by expert, so that each expert's weights are read once for
// all of its tokens. A row's result does not depend on the rows beside it, and a token's results
// are summed in the order of its routes, so grouping does not show.
#include <algorithm>
#include <utility>

#include "backends/cpu/ops.h"
#include "backends/routing.h"

namespace matador::cpu {
namespace {

// Where the inputs of the experts lie, one row for each route, an expert's in one segment.
struct Grouping {
  std::vector<Segment> segments;
  std::vector<int64_t> row_of;  // [num_tokens * top_k]
  int64_t rows = 0;             // with the gaps between segments, which begin at whole row groups

  Grouping(const Tensor& experts, int32_t count) : row_of(size(experts)) {
    std::vector<int64_t> next(static_cast<size_t>(count));
    for_routes(experts, [&](size_t, int32_t expert) { ++next[static_cast<size_t>(expert)]; });
    for (int32_t e = 0; e < count; ++e) {
      int64_t& tokens = next[static_cast<size_t>(e)];
      if (tokens == 0) continue;
      segments.push_back({e, rows, rows + tokens});
      tokens = std::exchange(rows, rows + (tokens + kRowGroup - 1) / kRowGroup * kRowGroup);
    }
    for_routes(experts, [&](size_t route, int32_t expert) {
      row_of[route] = next[static_cast<size_t>(expert)]++;
    });
  }

 private:
  static size_t size(const Tensor& experts) {
    return static_cast<size_t>(experts.rows * experts.cols);
  }
  template <class Body>
  static void for_routes(const Tensor& experts, const Body& body) {
    for (int64_t t = 0; t < experts.rows; ++t) {
      for (int64_t j = 0; j < experts.cols; ++j) {
        body(static_cast<size_t>(t * experts.cols + j), experts.row<const int32_t>(t)[j]);
      }
    }
  }
};

void limit(const Expert& expert, float* gate, float* up, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (expert.limit > 0) {
      gate[i] = std::min(gate[i], expert.limit);
      up[i] = std::clamp(up[i], -expert.limit, expert.limit);
    }
    up[i] += expert.up_offset;
  }
}

}  // namespace

Routes CpuOps::route(const Tensor& logits, const Routing& routing, const Weight* correction) {
  Routes routes{make(logits.rows, routing.top_k), make(logits.rows, routing.top_k)};
  routes.experts.dtype = DType::i32;
  const Tensor scores = make(logits.rows, routing.num_experts);
  const float* bias = correction != nullptr ? loaded(*correction).vector.data() : nullptr;
  for_rows(logits.rows, int64_t{routing.num_experts} * routing.top_k, [&](int64_t row) {
    matador::route(routing, logits.row<const float>(row), bias, scores.row<float>(row),
                   routes.experts.row<int32_t>(row), routes.weights.row<float>(row));
  });
  return routes;
}

Tensor CpuOps::experts(const Tensor& x, const Routes& routes, const ExpertWeights& weights,
                       const Expert& expert) {
  const int64_t top_k = routes.experts.cols;
  const Grouping grouping(routes.experts, weights.up->count);
  const Tensor inputs = make(grouping.rows, x.cols);
  for_rows(x.rows * top_k, x.cols, [&](int64_t route) {
    const float* from = x.row<const float>(route / top_k);
    float* to = inputs.row<float>(grouping.row_of[static_cast<size_t>(route)]);
    const float weight =
        expert.weigh_input ? routes.weights.row<const float>(route / top_k)[route % top_k] : 1;
    for (int64_t i = 0; i < x.cols; ++i) to[i] = weight * from[i];
  });
  const Tensor results = make(grouping.rows, weights.down->rows);
  const Weight* down = weights.down;
  cpu::multiply(context_, expert_inner(inputs, grouping.segments, weights, expert), {&down, 1},
                {&results, 1}, grouping.segments);
  Tensor y = make(x.rows, results.cols);
  for_rows(x.rows, top_k * y.cols, [&](int64_t t) {
    float* sum = y.row<float>(t);
    std::fill_n(sum, y.cols, 0.0F);
    for (int64_t j = 0; j < top_k; ++j) {
      const float weight = expert.weigh_input ? 1 : routes.weights.row<const float>(t)[j];
      const int64_t row = grouping.row_of[static_cast<size_t>(t * top_k + j)];
      kernels_.add(sum, results.row<const float>(row), weight, sum, y.cols);
    }
  });
  return y;
}

// act(gate x) * up x, or act(up x), of the rows in `segments`.
Tensor CpuOps::expert_inner(const Tensor& x, std::span<const Segment> segments,
                            const ExpertWeights& weights, const Expert& expert) {
  const Tensor inner = make(x.rows, weights.up->rows);
  const auto for_segments = [&](const auto& body) {
    threads_.run(static_cast<int64_t>(segments.size()), [&](int64_t item, int) {
      const Segment& segment = segments[static_cast<size_t>(item)];
      for (int64_t row = segment.begin; row < segment.end; ++row) body(inner.row<float>(row), row);
    });
  };
  if (weights.gate == nullptr) {
    cpu::multiply(context_, x, {&weights.up, 1}, {&inner, 1}, segments);
    for_segments([&](float* up, int64_t) { kernels_.activate(up, expert.act, up, inner.cols); });
    return inner;
  }
  const Tensor gate = make(x.rows, inner.cols);
  const Weight* const projections[] = {weights.gate, weights.up};
  const Tensor outputs[] = {gate, inner};
  cpu::multiply(context_, x, projections, outputs, segments);
  for_segments([&](float* up, int64_t row) {
    float* gate_row = gate.row<float>(row);
    limit(expert, gate_row, up, inner.cols);
    kernels_.gated(gate_row, up, expert.act, up, inner.cols);
  });
  return inner;
}

Tensor CpuOps::linear_heads(const Tensor& x, const Weight& w) {
  const int64_t head_dim = x.cols / w.count;
  const int64_t width = w.rows + head_dim - w.cols;
  Tensor y = make(x.rows, w.count * width);
  const Weight* weight = &w;
  for (int32_t head = 0; head < w.count; ++head) {
    const Tensor out = y.columns(head * width, w.rows);
    const Segment rows{.matrix = head, .end = x.rows};
    cpu::multiply(context_, x.columns(head * head_dim, w.cols), {&weight, 1}, {&out, 1},
                  {&rows, 1});
  }
  if (head_dim == w.cols) return y;
  for_rows(x.rows, y.cols, [&](int64_t row) {
    for (int32_t head = 0; head < w.count; ++head) {
      const float* from = x.row<const float>(row) + head * head_dim;
      std::copy(from + w.cols, from + head_dim, y.row<float>(row) + head * width + w.rows);
    }
  });
  return y;
}

}  // namespace matador::cpu
