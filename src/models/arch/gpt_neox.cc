// GPT-NeoX (arXiv 2204.06745), Pythia, Dolly: attention and MLP side by side, each after a layer
// norm of its own; a quarter of each head rotated; each head's query, key and value side by side.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  c.alias("partial_rotary_factor", "rotary_pct");
  c.alias("rope_theta", "rotary_emb_base");
  const Norm norm = layer_norm(c, "layer_norm_eps");
  Attention attn = attention(c, {.default_partial = 0.25F});
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", true);
  const Mlp mlp = plain_mlp(c, "gelu");
  const bool side_by_side = c.flag("use_parallel_residual", true);
  return decoder(c, norm, false, [&](int32_t) {
    return side_by_side ? parallel_two_norms(norm, attn, mlp) : pre_norm(norm, attn, mlp);
  });
}

const Register kGptNeoX({"GPTNeoXForCausalLM",
                         "gpt_neox",
                         describe,
                         {{{"embed"}, "gpt_neox.embed_in"},
                          {{"final_norm"}, "gpt_neox.final_layer_norm"},
                          {{"head"}, "embed_out"},
                          {{"head"}, "lm_head"},
                          {{"attn.in_norm"}, "gpt_neox.layers.{}.input_layernorm"},
                          {{"attn.q", "attn.k", "attn.v"},
                           "gpt_neox.layers.{}.attention.query_key_value",
                           Layout::by_part},
                          {{"attn.out"}, "gpt_neox.layers.{}.attention.dense"},
                          {{"mlp.in_norm"}, "gpt_neox.layers.{}.post_attention_layernorm"},
                          {{"mlp.up"}, "gpt_neox.layers.{}.mlp.dense_h_to_4h"},
                          {{"mlp.down"}, "gpt_neox.layers.{}.mlp.dense_4h_to_h"}}});

}  // namespace
}  // namespace matador
