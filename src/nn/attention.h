// Attention: multi-head attention with grouped key-value heads (arXiv 2305.13245), rotary or linear
// positions, and optional norms of queries and keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "nn/role.h"

namespace matador {

struct Attention {
  int64_t hidden = 0;  // features in and out
  Attend attend;       // heads, scale, window
  Rope rope;           // dim 0: no positions (NoPE)
  Norm qk_norm;        // of each head where it has a group, else of all heads as one row
  bool head_norms_differ = false;  // each head has weights of its own, not one for all
  bool norm_after_rope = false;
  float clip = 0;      // after those norms q, k and v are brought into [-clip, clip]; 0: not
  bool sinks = false;  // each head has a key without a value (gpt-oss)
  bool qkv_bias = false;
  bool out_bias = false;
};

// "q", "k", "v", "out", then "q_norm" and "k_norm" where there is a qk_norm, and "sinks".
std::vector<Role> roles(const Attention& attention);
// The paged state: one token's keys and values.
KvLayer kv_layer(const Attention& attention, KvType type, int32_t block_size);
// x: [num_tokens, hidden].
Tensor apply(const Attention& attention, Ops& ops, const Tensor& x, const Slot& slot,
             const Batch& batch);
std::string print(const Attention& attention);

}  // namespace matador
