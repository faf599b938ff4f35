// Phi 1, 1.5 and 2 (arXiv 2309.05463): attention and MLP side by side after one layer norm, half of
// each head rotated, biases everywhere, the head's too.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = layer_norm(c, "layer_norm_eps");
  Attention attn = attention(c, {.default_partial = 0.5F});
  attn.qkv_bias = attn.out_bias = true;
  if (c.flag("qk_layernorm", false)) attn.qk_norm = per_head(norm, attn);
  const Mlp mlp = plain_mlp(c, "gelu_new");
  DecoderSpec spec = decoder(c, norm, false, [&](int32_t) { return parallel(norm, attn, mlp); });
  spec.head_bias = true;
  return spec;
}

const Register kPhi({"PhiForCausalLM",
                     "phi",
                     describe,
                     {{{"final_norm"}, "model.final_layernorm"},
                      {{"attn.out"}, "model.layers.{}.self_attn.dense"},
                      {{"attn.q_norm"}, "model.layers.{}.self_attn.q_layernorm"},
                      {{"attn.k_norm"}, "model.layers.{}.self_attn.k_layernorm"},
                      {{"mlp.up"}, "model.layers.{}.mlp.fc1"},
                      {{"mlp.down"}, "model.layers.{}.mlp.fc2"}}});

}  // namespace
}  // namespace matador
