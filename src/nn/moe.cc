#include "nn/moe.h"

#include "nn/print.h"

namespace matador {
namespace {

// The weights in the order of roles().
struct Weights {
  const Weight *router, *up, *down;
  const Weight *gate = nullptr, *correction = nullptr;
  const Weight *shared_up = nullptr, *shared_down = nullptr, *shared_gate = nullptr;
  const Weight* shared_router = nullptr;

  Weights(const Moe& moe, std::span<const Weight> w) : router(&w[0]), up(&w[1]), down(&w[2]) {
    const Weight* next = w.data() + 3;
    if (moe.gated) gate = next++;
    if (moe.routing.corrected) correction = next++;
    if (moe.shared_inner == 0) return;
    shared_up = next++;
    shared_down = next++;
    if (moe.gated) shared_gate = next++;
    if (moe.shared_gate) shared_router = next++;
  }
};

// The shared expert is a mixture of one, whose weight is the sigmoid of its router, or a plain MLP.
Tensor apply_shared(const Moe& moe, Ops& ops, const Tensor& x, const Weights& w) {
  if (moe.shared_gate) {
    const Routing always{.num_experts = 1, .top_k = 1, .score = Routing::Score::sigmoid};
    const Routes routes = ops.route(ops.linear(x, *w.shared_router), always, nullptr);
    return ops.experts(x, routes, {w.shared_gate, w.shared_up, w.shared_down},
                       {.act = moe.expert.act});
  }
  if (!moe.gated) {
    return ops.linear(ops.activate(ops.linear(x, *w.shared_up), moe.expert.act), *w.shared_down);
  }
  const Weight* projections[] = {w.shared_gate, w.shared_up};
  const std::vector<Tensor> gate_up = ops.linears(x, projections);
  return ops.linear(ops.gated(gate_up[0], gate_up[1], moe.expert.act), *w.shared_down);
}

std::string print_routing(const Routing& routing) {
  std::string text = std::to_string(routing.top_k) + " of " + std::to_string(routing.num_experts);
  if (routing.top_groups < routing.num_groups) {
    text += " in " + std::to_string(routing.top_groups) + " of " +
            std::to_string(routing.num_groups) + " groups";
    text += routing.groups_by_two ? " by their best two" : " by their best";
  }
  switch (routing.score) {
    case Routing::Score::softmax: text += ", softmax"; break;
    case Routing::Score::sigmoid: text += ", sigmoid"; break;
    case Routing::Score::sparsemixer: text += ", sparsemixer " + print(routing.jitter); break;
  }
  if (routing.corrected) text += ", corrected";
  if (routing.normalise) text += ", normalised";
  if (routing.scale != 1) text += ", times " + print(routing.scale);
  return text;
}

}  // namespace

std::vector<Role> roles(const Moe& moe) {
  const int32_t count = moe.routing.num_experts;
  const auto experts = [&](std::string_view name, int64_t rows, int64_t cols) {
    // A fused tensor may interleave gate and up row by row.
    const auto parts = static_cast<int32_t>(rows);
    return Role{
        .name = name, .rows = rows, .cols = cols, .bias = moe.bias, .parts = parts, .count = count};
  };
  const auto matrix = [](std::string_view name, int64_t rows, int64_t cols) {
    return Role{.name = name, .rows = rows, .cols = cols};
  };
  Role router = matrix("router", count, moe.hidden);
  router.bias = moe.router_bias;
  std::vector<Role> result{router, experts("up", moe.inner, moe.hidden),
                           experts("down", moe.hidden, moe.inner)};
  if (moe.gated) result.push_back(experts("gate", moe.inner, moe.hidden));
  if (moe.routing.corrected) {
    result.push_back({.name = "correction", .kind = Role::Kind::vector, .rows = 1, .cols = count});
  }
  if (moe.shared_inner == 0) return result;
  result.push_back(matrix("shared_up", moe.shared_inner, moe.hidden));
  result.push_back(matrix("shared_down", moe.hidden, moe.shared_inner));
  if (moe.gated) result.push_back(matrix("shared_gate", moe.shared_inner, moe.hidden));
  if (moe.shared_gate) result.push_back(matrix("shared_router", 1, moe.hidden));
  return result;
}

Tensor apply(const Moe& moe, Ops& ops, const Tensor& x, const Slot& slot, const Batch&) {
  const Weights w(moe, slot.weights);
  const Routes routes = ops.route(ops.linear(x, *w.router), moe.routing, w.correction);
  const Tensor y = ops.experts(x, routes, {w.gate, w.up, w.down}, moe.expert);
  return moe.shared_inner > 0 ? ops.add(y, apply_shared(moe, ops, x, w), 1) : y;
}

std::string print(const Moe& moe) {
  const Expert& expert = moe.expert;
  std::string text =
      "moe(" + print_routing(moe.routing) + (expert.weigh_input ? " on the input" : "") + ", " +
      std::to_string(moe.inner) + (moe.gated ? ", gated " : ", ") + print(expert.act);
  if (expert.limit > 0) text += ", limit " + print(expert.limit);
  if (expert.up_offset != 0) text += ", up + " + print(expert.up_offset);
  if (moe.bias) text += ", bias";
  if (moe.router_bias) text += ", router bias";
  if (moe.shared_inner > 0) text += ", shared " + std::to_string(moe.shared_inner);
  if (moe.shared_gate) text += " by a sigmoid";
  return text + ")";
}

}  // namespace matador
