// Gemma 3 (arXiv 2503.19786), text: Gemma 2 without soft caps, with norms on queries and keys;
// five sliding layers to one full, each kind with its own rotary embedding.
#include <cmath>

#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

RopeKeys full_rope(const ConfigReader& c) {
  return {.parameters = c.has("rope_scaling") ? "rope_scaling" : "rope_parameters.full_attention",
          .default_theta = 1e6F};
}

constexpr char kSlidingRope[] = "rope_parameters.sliding_attention";

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = gemma_norm(c);
  Attention full = attention(c, full_rope(c), 256);
  full.qk_norm = per_head(norm, full);
  full.qkv_bias = full.out_bias = c.flag("attention_bias", false);
  full.attend.scale = 1 / std::sqrt(c.positive("query_pre_attn_scalar", 256));
  Attention sliding = full;
  sliding.rope = read_rope(c, full.attend.head_dim,
                           {.parameters = kSlidingRope, .theta = "rope_local_base_freq"});
  sliding.attend.window = c.nullable_count("sliding_window", 4096);
  Mlp mlp = gated_mlp(c);
  mlp.act = read_act(c, "hidden_activation", "gelu_pytorch_tanh");
  refuse_bidirectional(c);
  const int32_t period = c.count("sliding_window_pattern", 6);
  const std::vector<bool> slides =
      sliding_layers(c, [&](int32_t i) { return (i + 1) % period != 0; });
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t i) {
    return sandwich(norm, slides[static_cast<size_t>(i)] ? sliding : full, mlp);
  });
  spec.max_position = c.count("max_position_embeddings");  // is the stretched length
  spec.embedding_factor = std::sqrt(static_cast<float>(spec.hidden_size));
  spec.logit_softcap = c.nullable_positive("final_logit_softcapping", 0);
  return spec;
}

const Register kGemma3({"Gemma3ForCausalLM", "gemma3_text", describe, sandwich_names()});

}  // namespace
}  // namespace matador
