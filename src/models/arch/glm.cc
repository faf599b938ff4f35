// GLM-4 (arXiv 2406.12793) as transformers has it: Llama with neighbouring features of the first
// half of each head rotated, biases on q, k and v, gate and up in one tensor.
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
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kGlm({"GlmForCausalLM",
                     "glm",
                     describe,
                     {{{"mlp.gate", "mlp.up"}, "model.layers.{}.mlp.gate_up_proj"}}});

}  // namespace
}  // namespace matador
