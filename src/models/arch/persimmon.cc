// Persimmon 8B: layer norms, also of each head's queries and keys; half of each head rotated;
// squared ReLU; each head's query, key and value side by side.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = layer_norm(c, "layer_norm_eps");
  Attention attn = attention(c, {.default_partial = 0.5F});
  attn.qkv_bias = attn.out_bias = true;
  if (c.flag("qk_layernorm", true)) attn.qk_norm = per_head(norm, attn);
  const Mlp mlp = plain_mlp(c, "relu2");
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kPersimmon({"PersimmonForCausalLM",
                           "persimmon",
                           describe,
                           {{{"final_norm"}, "model.final_layernorm"},
                            {{"attn.q", "attn.k", "attn.v"},
                             "model.layers.{}.self_attn.query_key_value",
                             Layout::by_part},
                            {{"attn.out"}, "model.layers.{}.self_attn.dense"},
                            {{"attn.q_norm"}, "model.layers.{}.self_attn.q_layernorm"},
                            {{"attn.k_norm"}, "model.layers.{}.self_attn.k_layernorm"},
                            {{"mlp.up"}, "model.layers.{}.mlp.dense_h_to_4h"},
                            {{"mlp.down"}, "model.layers.{}.mlp.dense_4h_to_h"}}});

}  // namespace
}  // namespace matador
