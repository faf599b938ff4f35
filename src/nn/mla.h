// Mla: multi-head latent attention (DeepSeek-V2, arXiv 2405.04434). Keys and values of all heads
// are projections of one small latent vector, and only that is cached, with one rotated key that
// the heads share. The projections are absorbed into the queries and the result, for prompts as for
// decodes, so that a token's result never depends on how its prompt was divided into steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "nn/role.h"

namespace matador {

struct Mla {
  int64_t hidden = 0;  // features in and out
  int32_t num_heads = 0;
  int32_t nope_dim = 0;   // of a head's query and key, without positions
  int32_t value_dim = 0;  // of a head's value
  int32_t latent = 0;     // features of the cached latent
  int32_t q_latent = 0;   // features that queries are projected through; 0: not
  float scale = 1;        // of the scores
  Rope rope;              // of the last rope.dim features of a head
  Norm norm;              // of both latents
  bool bias = false;      // of the projections from and to `hidden`, but for q's
};

// "q", or "q_a", "q_a_norm", "q_b"; "kv_a", "kv_a_norm", "k_b" and "v_b" (a matrix for each head),
// "out".
std::vector<Role> roles(const Mla& mla);
// The paged state: one head whose key is the latent and the rotated part, whose value the latent.
KvLayer kv_layer(const Mla& mla, KvType type, int32_t block_size);
// x: [num_tokens, hidden].
Tensor apply(const Mla& mla, Ops& ops, const Tensor& x, const Slot& slot, const Batch& batch);
std::string print(const Mla& mla);

}  // namespace matador
