// GPT-2: learned positions, layer norms with biases, matrices stored as [in, out], a tied head.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  gpt2_keys(c);
  const Norm norm = layer_norm(c, "layer_norm_epsilon");
  Attention attn = unrotated_attention(c);
  attn.qkv_bias = attn.out_bias = true;
  if (!c.flag("scale_attn_weights", true)) attn.attend.scale = 1;
  if (c.flag("add_cross_attention", false)) c.refuse("add_cross_attention", "false");
  const float scale = attn.attend.scale;
  const bool by_depth = c.flag("scale_attn_by_inverse_layer_idx", false);
  const Mlp mlp = plain_mlp(c, "gelu_new");
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t i) {
    if (by_depth) attn.attend.scale = scale / static_cast<float>(i + 1);
    return pre_norm(norm, attn, mlp);
  });
  spec.positions.rows = spec.max_position;
  return spec;
}

std::vector<NameRule> names() {
  const NameRule rules[] = {
      {{"embed"}, "wte"},
      {{"positions"}, "wpe"},
      {{"final_norm"}, "ln_f"},
      {{"attn.in_norm"}, "h.{}.ln_1"},
      {{"attn.q", "attn.k", "attn.v"}, "h.{}.attn.c_attn", Layout::transposed},
      {{"attn.out"}, "h.{}.attn.c_proj", Layout::transposed},
      {{"mlp.in_norm"}, "h.{}.ln_2"},
      {{"mlp.up"}, "h.{}.mlp.c_fc", Layout::transposed},
      {{"mlp.down"}, "h.{}.mlp.c_proj", Layout::transposed}};
  return with_prefixes(kTransformerPrefixes, rules);
}

const Register kGpt2({"GPT2LMHeadModel", "gpt2", describe, names()});

}  // namespace
}  // namespace matador
