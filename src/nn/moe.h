// Moe: a mixture of experts (arXiv 2101.03961): a router chooses a few of many MLPs for each token.
// Beside them there may be a shared expert that every token takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "nn/role.h"

namespace matador {

struct Moe {
  int64_t hidden = 0;  // features in and out
  int64_t inner = 0;   // of each expert
  Routing routing;
  Expert expert;
  bool gated = true;
  bool bias = false;  // of the experts
  bool router_bias = false;
  int64_t shared_inner = 0;  // 0: no shared expert; it has the act of the others
  bool shared_gate = false;  // its result is multiplied by a sigmoid of the token
};

// "router", "up", "down" and "gate" where it is gated (one matrix for each expert), "correction" of
// the choice, "shared_up", "shared_down" and "shared_gate", "shared_router".
std::vector<Role> roles(const Moe& moe);
// x: [num_tokens, hidden].
Tensor apply(const Moe& moe, Ops& ops, const Tensor& x, const Slot& slot, const Batch& batch);
std::string print(const Moe& moe);

}  // namespace matador
