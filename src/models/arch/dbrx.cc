// DBRX: layer norms without bias, clipped queries, keys and values, and experts whose weights the
// hub stores as flat stacks.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

void set_keys(ConfigReader& c) {
  c.alias("hidden_size", "d_model");
  c.alias("num_attention_heads", "n_heads");
  c.alias("num_hidden_layers", "n_layers");
  c.alias("max_position_embeddings", "max_seq_len");
  c.alias("num_key_value_heads", "attn_config.kv_n_heads");
  c.alias("rope_theta", "attn_config.rope_theta");
  c.alias("clip_qkv", "attn_config.clip_qkv");
  c.alias("num_experts", "ffn_config.moe_num_experts");
  c.alias("num_experts_per_tok", "ffn_config.moe_top_k");
  c.alias("moe_intermediate_size", "ffn_config.ffn_hidden_size");
  c.alias("hidden_act", "ffn_config.ffn_act_fn.name");
}

DecoderSpec describe(ConfigReader& c) {
  set_keys(c);
  const Norm norm{.kind = Norm::Kind::layer, .eps = 1e-5F};
  Attention attn = attention(c);
  attn.clip = c.nullable_positive("clip_qkv", 0);
  Moe experts = moe(c);
  constexpr std::string_view kPower = "ffn_config.moe_normalize_expert_weights";
  if (c.number(kPower, 1) != 1) c.refuse(kPower, "1");
  experts.routing.normalise = true;
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, experts); });
}

std::vector<NameRule> names() {
  const std::string block = "transformer.blocks.{}.";
  return {{{"embed"}, "transformer.wte"},
          {{"final_norm"}, "transformer.norm_f"},
          {{"attn.in_norm"}, block + "norm_attn_norm.norm_1"},
          {{"attn.q", "attn.k", "attn.v"}, block + "norm_attn_norm.attn.Wqkv"},
          {{"attn.out"}, block + "norm_attn_norm.attn.out_proj"},
          {{"moe.in_norm"}, block + "norm_attn_norm.norm_2"},
          {{"moe.router"}, block + "ffn.router.layer"},
          {{"moe.gate"}, block + "ffn.experts.mlp.w1"},
          {{"moe.up"}, block + "ffn.experts.mlp.v1"},
          {{"moe.down"}, block + "ffn.experts.mlp.w2", Layout::transposed}};
}

const Register kDbrx({"DbrxForCausalLM", "dbrx", describe, names()});

}  // namespace
}  // namespace matador
