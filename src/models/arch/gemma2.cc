// Gemma 2 (arXiv 2408.00118): Gemma with norms on both sides of each sub-layer, a sliding window
// on every other layer, and soft caps on scores and logits.
#include <cmath>

#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = gemma_norm(c);
  Attention attn = attention(c, {}, 256);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  attn.attend.scale = 1 / std::sqrt(c.positive("query_pre_attn_scalar", 256));
  attn.attend.softcap = c.nullable_positive("attn_logit_softcapping", 50);
  Mlp mlp = gated_mlp(c);
  mlp.act = read_act(c, "hidden_activation", "gelu_pytorch_tanh");
  refuse_bidirectional(c);
  const int32_t window = c.nullable_count("sliding_window", 4096);
  const std::vector<bool> slides = sliding_layers(c, [](int32_t i) { return i % 2 == 0; });
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t i) {
    attn.attend.window = slides[static_cast<size_t>(i)] ? window : 0;
    return sandwich(norm, attn, mlp);
  });
  spec.embedding_factor = std::sqrt(static_cast<float>(spec.hidden_size));
  spec.logit_softcap = c.nullable_positive("final_logit_softcapping", 30);
  return spec;
}

const Register kGemma2({"Gemma2ForCausalLM", "gemma2", describe, sandwich_names()});

}  // namespace
}  // namespace matador
