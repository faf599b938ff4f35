#include "weights/names.h"

#include <algorithm>

namespace matador {
namespace {

std::vector<NameRule> huggingface_rules() {
  return {
      {{"embed"}, "model.embed_tokens"},
      {{"final_norm"}, "model.norm"},
      {{"head"}, "lm_head"},
      {{"attn.in_norm"}, "model.layers.{}.input_layernorm"},
      {{"attn.q"}, "model.layers.{}.self_attn.q_proj"},
      {{"attn.k"}, "model.layers.{}.self_attn.k_proj"},
      {{"attn.v"}, "model.layers.{}.self_attn.v_proj"},
      {{"attn.out"}, "model.layers.{}.self_attn.o_proj"},
      {{"attn.q_norm"}, "model.layers.{}.self_attn.q_norm"},
      {{"attn.k_norm"}, "model.layers.{}.self_attn.k_norm"},
      {{"attn.sinks"}, "model.layers.{}.self_attn.sinks"},
      {{"mlp.in_norm"}, "model.layers.{}.post_attention_layernorm"},
      {{"mlp.gate"}, "model.layers.{}.mlp.gate_proj"},
      {{"mlp.up"}, "model.layers.{}.mlp.up_proj"},
      {{"mlp.down"}, "model.layers.{}.mlp.down_proj"},
      {{"attn.q_a"}, "model.layers.{}.self_attn.q_a_proj"},
      {{"attn.q_a_norm"}, "model.layers.{}.self_attn.q_a_layernorm"},
      {{"attn.q_b"}, "model.layers.{}.self_attn.q_b_proj"},
      {{"attn.kv_a"}, "model.layers.{}.self_attn.kv_a_proj_with_mqa"},
      {{"attn.kv_a_norm"}, "model.layers.{}.self_attn.kv_a_layernorm"},
      {{"attn.k_b", "attn.v_b"}, "model.layers.{}.self_attn.kv_b_proj", Layout::first_turned},
      {{"moe.in_norm"}, "model.layers.{}.post_attention_layernorm"},
      {{"moe.router"}, "model.layers.{}.mlp.gate"},
      {{"moe.correction"}, "model.layers.{}.mlp.gate.e_score_correction_bias"},
      {{"moe.gate"}, "model.layers.{}.mlp.experts.{}.gate_proj"},
      {{"moe.up"}, "model.layers.{}.mlp.experts.{}.up_proj"},
      {{"moe.down"}, "model.layers.{}.mlp.experts.{}.down_proj"},
      {{"moe.gate", "moe.up"}, "model.layers.{}.mlp.experts.gate_up_proj"},
      {{"moe.down"}, "model.layers.{}.mlp.experts.down_proj"},
      {{"moe.shared_gate"}, "model.layers.{}.mlp.shared_experts.gate_proj"},
      {{"moe.shared_up"}, "model.layers.{}.mlp.shared_experts.up_proj"},
      {{"moe.shared_down"}, "model.layers.{}.mlp.shared_experts.down_proj"},
  };
}

std::vector<NameRule> gguf_rules() {
  return {
      {{"embed"}, "token_embd"},
      {{"positions"}, "position_embd"},
      {{"embedding_norm"}, "token_embd_norm"},
      {{"final_norm"}, "output_norm"},
      {{"head"}, "output"},
      {{"attn.in_norm"}, "blk.{}.attn_norm_2"},
      {{"attn.in_norm"}, "blk.{}.attn_norm"},
      {{"attn.q"}, "blk.{}.attn_q"},
      {{"attn.k"}, "blk.{}.attn_k"},
      {{"attn.v"}, "blk.{}.attn_v"},
      {{"attn.q", "attn.k", "attn.v"}, "blk.{}.attn_qkv"},
      {{"attn.out"}, "blk.{}.attn_output"},
      {{"attn.q_norm"}, "blk.{}.attn_q_norm"},
      {{"attn.k_norm"}, "blk.{}.attn_k_norm"},
      {{"attn.sinks"}, "blk.{}.attn_sinks"},
      {{"attn.out_norm"}, "blk.{}.post_attention_norm"},
      {{"mlp.in_norm"}, "blk.{}.ffn_norm"},
      {{"mlp.in_norm"}, "blk.{}.post_attention_norm"},
      {{"mlp.in_norm"}, "blk.{}.attn_norm"},
      {{"mlp.gate"}, "blk.{}.ffn_gate"},
      {{"mlp.up"}, "blk.{}.ffn_up"},
      {{"mlp.gate", "mlp.up"}, "blk.{}.ffn_up"},
      {{"mlp.down"}, "blk.{}.ffn_down"},
      {{"mlp.out_norm"}, "blk.{}.post_ffw_norm"},
      {{"attn.q_a"}, "blk.{}.attn_q_a"},
      {{"attn.q_a_norm"}, "blk.{}.attn_q_a_norm"},
      {{"attn.q_b"}, "blk.{}.attn_q_b"},
      {{"attn.kv_a"}, "blk.{}.attn_kv_a_mqa"},
      {{"attn.kv_a_norm"}, "blk.{}.attn_kv_a_norm"},
      {{"attn.k_b"}, "blk.{}.attn_k_b"},
      {{"attn.v_b"}, "blk.{}.attn_v_b"},
      {{"attn.k_b", "attn.v_b"}, "blk.{}.attn_kv_b", Layout::first_turned},
      {{"moe.in_norm"}, "blk.{}.ffn_norm"},
      {{"moe.router"}, "blk.{}.ffn_gate_inp"},
      {{"moe.correction"}, "blk.{}.exp_probs_b.bias"},
      {{"moe.gate"}, "blk.{}.ffn_gate_exps"},
      {{"moe.up"}, "blk.{}.ffn_up_exps"},
      {{"moe.down"}, "blk.{}.ffn_down_exps"},
      {{"moe.shared_gate"}, "blk.{}.ffn_gate_shexp"},
      {{"moe.shared_up"}, "blk.{}.ffn_up_shexp"},
      {{"moe.shared_down"}, "blk.{}.ffn_down_shexp"},
      {{"moe.shared_router"}, "blk.{}.ffn_gate_inp_shexp"},
  };
}

bool holds(const NameRule& rule, std::string_view role) {
  return std::find(rule.roles.begin(), rule.roles.end(), role) != rule.roles.end();
}

bool share_a_role(const NameRule& a, const NameRule& b) {
  return std::any_of(a.roles.begin(), a.roles.end(),
                     [&](std::string_view role) { return holds(b, role); });
}

std::string with_layer(const std::string& tensor, int32_t layer) {
  const size_t at = tensor.find("{}");
  if (at == std::string::npos) return tensor;
  return tensor.substr(0, at) + std::to_string(layer) + tensor.substr(at + 2);
}

}  // namespace

std::vector<NameRule> with_prefixes(std::span<const std::string_view> prefixes,
                                    std::span<const NameRule> rules) {
  std::vector<NameRule> result;
  for (std::string_view prefix : prefixes) {
    for (NameRule rule : rules) {
      rule.tensor.insert(0, prefix);
      result.push_back(std::move(rule));
    }
  }
  return result;
}

Names::Names(NameStyle style, const std::vector<NameRule>& differences) {
  if (style == NameStyle::gguf) {
    rules_ = gguf_rules();
    return;
  }
  rules_ = differences;
  for (NameRule& rule : huggingface_rules()) {
    const bool replaced =
        std::any_of(differences.begin(), differences.end(),
                    [&](const NameRule& other) { return share_a_role(rule, other); });
    if (!replaced) rules_.push_back(std::move(rule));
  }
}

std::vector<Names::Place> Names::places(std::string_view role, int32_t layer) const {
  std::vector<Place> result;
  for (const NameRule& rule : rules_) {
    if (holds(rule, role))
      result.push_back({with_layer(rule.tensor, layer), rule.roles, rule.layout});
  }
  return result;
}

}  // namespace matador
