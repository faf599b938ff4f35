// Falcon (arXiv 2311.16867): 7B with one kv head and one norm for attention and MLP side by side,
// 40B and 180B with groups and two norms, 11B with groups and one norm, RW with ALiBi, one
// sub-layer after the other.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

int64_t num_kv_heads(ConfigReader& c, bool new_decoder) {
  if (new_decoder) return c.count("num_kv_heads", c.count("num_attention_heads"));
  return c.flag("multi_query", true) ? 1 : c.count("num_attention_heads");
}

Attention falcon_attention(ConfigReader& c, bool new_decoder) {
  c.fallback("num_key_value_heads", num_kv_heads(c, new_decoder));
  const bool alibi = c.flag("alibi", false);
  Attention attn = alibi ? unrotated_attention(c) : attention(c);
  attn.qkv_bias = attn.out_bias = c.flag("bias", false);
  if (alibi) {  // added before the scores are scaled
    attn.attend.alibi_max = 8;
    attn.attend.alibi_scale = attn.attend.scale;
  }
  return attn;
}

DecoderSpec describe(ConfigReader& c) {
  c.alias("num_attention_heads", "n_head");
  c.alias("num_hidden_layers", "n_layer");
  c.alias("intermediate_size", "ffn_hidden_size");
  c.alias("hidden_act", "activation");
  c.alias("num_kv_heads", "n_head_kv");
  c.fallback("max_position_embeddings", int64_t{2048});
  c.fallback("intermediate_size", 4 * int64_t{c.count("hidden_size")});
  const Norm norm = layer_norm(c, "layer_norm_epsilon");
  const bool new_decoder = c.flag("new_decoder_architecture", c.has("n_head_kv"));
  const Attention attn = falcon_attention(c, new_decoder);
  Mlp mlp = plain_mlp(c, "gelu");
  mlp.bias = attn.out_bias;
  const bool side_by_side = new_decoder || c.flag("parallel_attn", true);
  const bool two_norms = new_decoder && c.count("num_ln_in_parallel_attn", 2) == 2;
  return decoder(c, norm, true, [&](int32_t) {
    if (!side_by_side) return pre_norm(norm, attn, mlp);
    return two_norms ? parallel_two_norms(norm, attn, mlp) : parallel(norm, attn, mlp);
  });
}

std::vector<NameRule> names() {
  return {{{"embed"}, "transformer.word_embeddings"},
          {{"final_norm"}, "transformer.ln_f"},
          {{"attn.in_norm"}, "transformer.h.{}.input_layernorm"},
          {{"attn.in_norm"}, "transformer.h.{}.ln_attn"},
          {{"attn.q", "attn.k", "attn.v"},
           "transformer.h.{}.self_attention.query_key_value",
           Layout::by_part},
          {{"attn.out"}, "transformer.h.{}.self_attention.dense"},
          {{"mlp.in_norm"}, "transformer.h.{}.post_attention_layernorm"},
          {{"mlp.in_norm"}, "transformer.h.{}.ln_mlp"},
          {{"mlp.up"}, "transformer.h.{}.mlp.dense_h_to_4h"},
          {{"mlp.down"}, "transformer.h.{}.mlp.dense_4h_to_h"}};
}

const Register kFalcon({"FalconForCausalLM", "falcon", describe, names()});
// The first releases, with code of their own.
const Register kRefinedWeb({"RWForCausalLM", "RefinedWeb", describe, names()});
const Register kRefinedWebModel({"RWForCausalLM", "RefinedWebModel", describe, names()});

}  // namespace
}  // namespace matador
