// Mlp: the feed-forward sub-layer, down(act(gate x) * up x) (arXiv 2002.05202) or down(act(up x)).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "nn/role.h"

namespace matador {

struct Mlp {
  int64_t hidden = 0;  // features in and out
  int64_t inner = 0;
  Act act = Act::silu;
  bool gated = true;
  bool bias = false;
};

// "up", "down", and "gate" where it is gated.
std::vector<Role> roles(const Mlp& mlp);
// x: [num_tokens, hidden].
Tensor apply(const Mlp& mlp, Ops& ops, const Tensor& x, const Slot& slot, const Batch& batch);
std::string print(const Mlp& mlp);

}  // namespace matador
