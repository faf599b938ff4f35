// GLM-4-0414: GLM with norms on both sides of each sub-layer.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  Norm norm = rms_norm(c);
  norm.eps = c.positive("rms_norm_eps", 1.5625e-7F);
  c.fallback("num_key_value_heads", int64_t{2});
  Attention attn = attention(c, {.default_partial = 0.5F, .interleaved = true}, 128);
  attn.qkv_bias = c.flag("attention_bias", true);
  const Mlp mlp = gated_mlp(c);
  return decoder(c, norm, false, [&](int32_t) { return sandwich(norm, attn, mlp); });
}

const Register kGlm4({"Glm4ForCausalLM",
                      "glm4",
                      describe,
                      {{{"attn.out_norm"}, "model.layers.{}.post_self_attn_layernorm"},
                       {{"mlp.out_norm"}, "model.layers.{}.post_mlp_layernorm"},
                       {{"mlp.gate", "mlp.up"}, "model.layers.{}.mlp.gate_up_proj"}}});

}  // namespace
}  // namespace matador
