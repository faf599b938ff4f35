// GPT-BigCode (SantaCoder, StarCoder 1: arXiv 2305.06161): GPT-2 with one kv head for all queries,
// or with each head's query, key and value side by side, and matrices stored as [out, in].
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  gpt2_keys(c);
  const Norm norm = layer_norm(c, "layer_norm_epsilon");
  if (c.flag("multi_query", true)) c.fallback("num_key_value_heads", int64_t{1});
  Attention attn = unrotated_attention(c);
  attn.qkv_bias = attn.out_bias = true;
  if (!c.flag("scale_attn_weights", true)) attn.attend.scale = 1;
  const Mlp mlp = plain_mlp(c, "gelu_pytorch_tanh");
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t) { return pre_norm(norm, attn, mlp); });
  spec.positions.rows = spec.max_position;
  return spec;
}

std::vector<NameRule> names() {
  const NameRule rules[] = {{{"embed"}, "wte"},
                            {{"positions"}, "wpe"},
                            {{"final_norm"}, "ln_f"},
                            {{"attn.in_norm"}, "h.{}.ln_1"},
                            {{"attn.q", "attn.k", "attn.v"}, "h.{}.attn.c_attn", Layout::by_part},
                            {{"attn.out"}, "h.{}.attn.c_proj"},
                            {{"mlp.in_norm"}, "h.{}.ln_2"},
                            {{"mlp.up"}, "h.{}.mlp.c_fc"},
                            {{"mlp.down"}, "h.{}.mlp.c_proj"}};
  return with_prefixes(kTransformerPrefixes, rules);
}

const Register kGptBigCode({"GPTBigCodeForCausalLM", "gpt_bigcode", describe, names()});

}  // namespace
}  // namespace matador
