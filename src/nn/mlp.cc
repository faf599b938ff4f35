#include "nn/mlp.h"

#include "nn/print.h"

namespace matador {
namespace {

enum : size_t { kUp, kDown, kGate };

Tensor gated(const Mlp& mlp, Ops& ops, const Tensor& x, std::span<const Weight> w) {
  const Weight* projections[] = {&w[kGate], &w[kUp]};
  const std::vector<Tensor> gate_up = ops.linears(x, projections);
  return ops.gated(gate_up[0], gate_up[1], mlp.act);
}

}  // namespace

std::vector<Role> roles(const Mlp& mlp) {
  std::vector<Role> result{{"up", Role::Kind::matrix, mlp.inner, mlp.hidden, mlp.bias},
                           {"down", Role::Kind::matrix, mlp.hidden, mlp.inner, mlp.bias}};
  if (mlp.gated) result.push_back({"gate", Role::Kind::matrix, mlp.inner, mlp.hidden, mlp.bias});
  return result;
}

Tensor apply(const Mlp& mlp, Ops& ops, const Tensor& x, const Slot& slot, const Batch&) {
  const std::span<const Weight> w = slot.weights;
  const Tensor inner =
      mlp.gated ? gated(mlp, ops, x, w) : ops.activate(ops.linear(x, w[kUp]), mlp.act);
  return ops.linear(inner, w[kDown]);
}

std::string print(const Mlp& mlp) {
  return "mlp(" + std::to_string(mlp.inner) + (mlp.gated ? ", gated " : ", ") + print(mlp.act) +
         (mlp.bias ? ", bias)" : ")");
}

}  // namespace matador
