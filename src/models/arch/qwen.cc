// Qwen 1 (arXiv 2309.16609): Llama with q, k and v in one tensor, with a bias. What its code does
// to longer prompts than seq_length (a stretched base, queries scaled by log n) begins there, and
// seq_length is the longest context taken here.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  c.alias("rms_norm_eps", "layer_norm_epsilon");
  c.alias("head_dim", "kv_channels");
  c.alias("rope_theta", "rotary_emb_base");
  c.alias("partial_rotary_factor", "rotary_pct");
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qkv_bias = true;
  if (!c.flag("scale_attn_weights", true)) attn.attend.scale = 1;
  Mlp mlp = gated_mlp(c);
  mlp.inner /= 2;
  attn.out_bias = mlp.bias = !c.flag("no_bias", true);
  DecoderSpec spec = decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
  spec.max_position = c.count("seq_length", spec.max_position);
  return spec;
}

const Register kQwen({"QWenLMHeadModel",
                      "qwen",
                      describe,
                      {{{"embed"}, "transformer.wte"},
                       {{"final_norm"}, "transformer.ln_f"},
                       {{"attn.in_norm"}, "transformer.h.{}.ln_1"},
                       {{"attn.q", "attn.k", "attn.v"}, "transformer.h.{}.attn.c_attn"},
                       {{"attn.out"}, "transformer.h.{}.attn.c_proj"},
                       {{"mlp.in_norm"}, "transformer.h.{}.ln_2"},
                       {{"mlp.up"}, "transformer.h.{}.mlp.w1"},
                       {{"mlp.gate"}, "transformer.h.{}.mlp.w2"},
                       {{"mlp.down"}, "transformer.h.{}.mlp.c_proj"}}});

}  // namespace
}  // namespace matador
