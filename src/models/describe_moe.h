// What descriptions of mixtures of experts and of latent attention share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/describe.h"

namespace matador {

// Gated experts of hidden_act, num_experts_per_tok of num_experts (or num_local_experts,
// n_routed_experts, moe_num_experts) by softmax, each as wide as `width_key` says.
Moe moe(ConfigReader& c, std::string_view width_key = "moe_intermediate_size");
// n_group, topk_group and routed_scaling_factor, as DeepSeek has them.
void limit_groups(ConfigReader& c, Routing& routing);

// The layers that have experts by Qwen's keys: every decoder_sparse_step-th that is not among
// mlp_only_layers.
std::vector<bool> qwen_sparse_layers(ConfigReader& c);

// Mixtral's names of a mixture: block_sparse_moe, with experts' w1, w3 and w2, beside those that
// transformers 5 writes.
std::vector<NameRule> mixtral_names();

// Latent attention by DeepSeek's keys, with YaRN's factor on the scores.
Mla mla(ConfigReader& c, const Norm& norm, bool interleaved);

}  // namespace matador
