// Command R and R+: attention and MLP side by side after one layer norm without bias, neighbouring
// features rotated, scaled logits; R+ norms each head's queries and keys with weights of its own.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  Norm norm = layer_norm(c, "layer_norm_eps");
  norm.has_bias = false;
  Attention attn = attention(c, {.default_theta = 500000, .interleaved = true});
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  if (c.flag("use_qk_norm", false)) {
    attn.qk_norm = per_head(norm, attn);
    attn.head_norms_differ = true;
  }
  const Mlp mlp = gated_mlp(c);
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t) { return parallel(norm, attn, mlp); });
  spec.logit_factor = c.number("logit_scale", 0.0625F);
  return spec;
}

const Register kCohere({"CohereForCausalLM", "cohere", describe});

}  // namespace
}  // namespace matador
