// What descriptions of decoders share: the usual config keys read into the usual parts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/config_reader.h"
#include "models/rope_config.h"
#include "models/spec.h"
#include "weights/names.h"

namespace matador {

// RMSNorm with rms_norm_eps.
Norm rms_norm(ConfigReader& c);
// LayerNorm with a weight and a bias, its eps in `key`.
Norm layer_norm(ConfigReader& c, std::string_view key);
// The Gemma family's: the weight is stored less one (unless the checkpoint has it added already,
// as GGUF files do).
Norm gemma_norm(ConfigReader& c);

// An activation by Hugging Face's name, from `key`.
Act read_act(ConfigReader& c, std::string_view key, std::string_view otherwise);

// Heads, head_dim, rope, and scores scaled by 1 / sqrt(head_dim). `default_head_dim` 0 means
// hidden_size / num_attention_heads.
Attention attention(ConfigReader& c, const RopeKeys& rope = {}, int32_t default_head_dim = 0);
// The same without a rope: for positions of another kind, or none.
Attention unrotated_attention(ConfigReader& c, int32_t default_head_dim = 0);
// How many features of a head are rotated, where `key` has the number itself.
int32_t rotated_features(ConfigReader& c, const Attention& attention, std::string_view key,
                         int32_t otherwise);
// The same norm for the queries and keys of each head.
Norm per_head(Norm norm, const Attention& attention);

// Gated, with hidden_act.
Mlp gated_mlp(ConfigReader& c);
// down(act(up x)) with hidden_act and biases.
Mlp plain_mlp(ConfigReader& c, std::string_view default_act);

// The GPT-2 family's names of the usual keys: n_embd, n_head, n_layer, n_positions, n_inner and
// activation_function, with an MLP of four times the width where n_inner is null.
void gpt2_keys(ConfigReader& c);
// Files of the early families have this before their tensors' names, or not.
inline constexpr std::string_view kTransformerPrefixes[] = {"transformer.", ""};

int32_t num_layers(ConfigReader& c);

// `ffn` is an MLP or a mixture of experts, whose weights are called "mlp" or "moe".
Layer pre_norm(const Norm& norm, const SubLayer& attention, const SubLayer& ffn);
// Both sub-layers read the same norm of the layer's input, and are added together.
Layer parallel(const Norm& norm, const Attention& attention, const Mlp& mlp);
// The same, each with a norm of its own.
Layer parallel_two_norms(const Norm& norm, const Attention& attention, const Mlp& mlp);
// Norms on both sides of each sub-layer, and what their tensors are called.
Layer sandwich(const Norm& norm, const Attention& attention, const Mlp& mlp);
std::vector<NameRule> sandwich_names();

// Norms of the sub-layers' outputs alone, and what their tensors are called.
Layer output_norm(const Norm& norm, const Attention& attention, const Mlp& mlp);
std::vector<NameRule> output_norm_names();

// Whether each layer slides: by the config's layer_types ("sliding_attention", "full_attention";
// others are recorded as problems), or what `otherwise` says about it.
std::vector<bool> sliding_layers(ConfigReader& c, const std::function<bool(int32_t)>& otherwise);

// Each layer's window (0: none) by Qwen's keys: where use_sliding_window is true, sliding_window
// from layer max_window_layers on.
std::vector<int32_t> qwen_windows(ConfigReader& c);

// Bidirectional attention (embedding models made from decoders) changes the mask: a problem.
void refuse_bidirectional(ConfigReader& c);

// The ends and num_hidden_layers layers. `tied` is the class's default of tie_word_embeddings.
DecoderSpec decoder(ConfigReader& c, const Norm& final_norm, bool tied,
                    const std::function<Layer(int32_t)>& layer);

}  // namespace matador
