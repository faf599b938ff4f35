// MPT: ALiBi, no biases anywhere, queries, keys and values optionally clipped.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

void refuse_other_blocks(ConfigReader& c) {
  for (const char* key : {"attn_config.prefix_lm", "attn_config.qk_ln"}) {
    if (c.flag(key, false)) c.refuse(key, "false");
  }
  if (!c.flag("attn_config.alibi", true)) c.refuse("attn_config.alibi", "true");
  if (!c.flag("no_bias", true)) c.refuse("no_bias", "true");
  const std::string type = c.text("attn_config.attn_type", "multihead_attention");
  if (type != "multihead_attention") c.refuse("attn_config.attn_type", "multihead_attention");
  if (c.has("logit_scale")) c.refuse("logit_scale", "none");
}

DecoderSpec describe(ConfigReader& c) {
  c.alias("hidden_size", "d_model");
  c.alias("num_attention_heads", "n_heads");
  c.alias("num_hidden_layers", "n_layers");
  c.alias("max_position_embeddings", "max_seq_len");
  c.fallback("max_position_embeddings", int64_t{2048});
  const int32_t expansion = c.count("expansion_ratio", 4);
  c.fallback("intermediate_size", int64_t{expansion} * c.count("hidden_size"));
  Norm norm = layer_norm(c, "layer_norm_epsilon");
  norm.has_bias = false;
  Attention attn = unrotated_attention(c);
  attn.attend.scale = c.positive("attn_config.softmax_scale", attn.attend.scale);
  attn.attend.alibi_max = c.positive("attn_config.alibi_bias_max", 8);
  attn.clip = c.positive("attn_config.clip_qkv", 0);
  Mlp mlp = plain_mlp(c, "gelu");
  mlp.bias = false;
  refuse_other_blocks(c);
  return decoder(c, norm, true, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

std::vector<NameRule> names() {
  return {{{"embed"}, "transformer.wte"},
          {{"final_norm"}, "transformer.norm_f"},
          {{"attn.in_norm"}, "transformer.blocks.{}.norm_1"},
          {{"attn.q", "attn.k", "attn.v"}, "transformer.blocks.{}.attn.Wqkv"},
          {{"attn.out"}, "transformer.blocks.{}.attn.out_proj"},
          {{"mlp.in_norm"}, "transformer.blocks.{}.norm_2"},
          {{"mlp.up"}, "transformer.blocks.{}.ffn.up_proj"},
          {{"mlp.down"}, "transformer.blocks.{}.ffn.down_proj"}};
}

const Register kMpt({"MptForCausalLM", "mpt", describe, names()});
const Register kPublished({"MPTForCausalLM", "mpt", describe, names()});

}  // namespace
}  // namespace matador
