#include "models/describe_moe.h"

#include <algorithm>
#include <cmath>

namespace matador {
namespace {

// YaRN scales the scores by its magnitude for mscale_all_dim, squared.
float yarn_score_factor(ConfigReader& c, const Rope& rope) {
  if (rope.scaling == Rope::Scaling::none || rope.factor <= 1) return 1;
  const std::string object = c.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
  const float weight = c.number(object + ".mscale_all_dim", 0);
  const float magnitude = weight == 0 ? 1 : 0.1F * weight * std::log(rope.factor) + 1;
  return magnitude * magnitude;
}

}  // namespace

Moe moe(ConfigReader& c, std::string_view width_key) {
  for (std::string_view name : {"num_local_experts", "n_routed_experts", "moe_num_experts"}) {
    c.alias("num_experts", name);
  }
  Moe result;
  result.hidden = c.count("hidden_size");
  result.inner = c.count(width_key);
  result.expert.act = read_act(c, "hidden_act", "silu");
  Routing& routing = result.routing;
  routing.num_experts = c.count("num_experts");
  routing.top_k = c.count("num_experts_per_tok");
  const int32_t most = std::min(routing.num_experts, kMaxTopK);
  if (routing.top_k > most) {
    c.refuse("num_experts_per_tok", "at most num_experts and " + std::to_string(kMaxTopK));
    routing.top_k = most;
  }
  return result;
}

void limit_groups(ConfigReader& c, Routing& routing) {
  routing.scale = c.number("routed_scaling_factor", 1);
  routing.num_groups = std::max(1, c.nullable_count("n_group", 1));
  routing.top_groups = std::max(1, c.nullable_count("topk_group", 1));
  if (routing.num_groups > kMaxExpertGroups || routing.num_experts % routing.num_groups != 0) {
    c.refuse("n_group",
             "a divisor of the number of experts, at most " + std::to_string(kMaxExpertGroups));
    routing.num_groups = 1;
  }
  const int32_t reachable = routing.top_groups * (routing.num_experts / routing.num_groups);
  if (routing.top_groups > routing.num_groups || routing.top_k > reachable) {
    c.refuse("topk_group", "at most n_group, and groups of num_experts_per_tok experts together");
    routing.top_groups = routing.num_groups;
  }
}

std::vector<bool> qwen_sparse_layers(ConfigReader& c) {
  const int32_t step = c.count("decoder_sparse_step", 1);
  const std::vector<int64_t> dense = c.integers("mlp_only_layers").value_or(std::vector<int64_t>());
  std::vector<bool> sparse;
  for (int32_t i = 0; i < num_layers(c); ++i) {
    const bool listed = std::find(dense.begin(), dense.end(), i) != dense.end();
    sparse.push_back(!listed && (i + 1) % step == 0);
  }
  return sparse;
}

std::vector<NameRule> mixtral_names() {
  const std::string layer = "model.layers.{}.";
  return {{{"moe.router"}, layer + "block_sparse_moe.gate"},
          {{"moe.router"}, layer + "mlp.gate"},
          {{"moe.router"}, layer + "mlp.router"},
          {{"moe.gate"}, layer + "block_sparse_moe.experts.{}.w1"},
          {{"moe.up"}, layer + "block_sparse_moe.experts.{}.w3"},
          {{"moe.down"}, layer + "block_sparse_moe.experts.{}.w2"},
          {{"moe.gate", "moe.up"}, layer + "mlp.experts.gate_up_proj"},
          {{"moe.down"}, layer + "mlp.experts.down_proj"}};
}

Mla mla(ConfigReader& c, const Norm& norm, bool interleaved) {
  Mla result;
  result.hidden = c.count("hidden_size");
  result.num_heads = c.count("num_attention_heads");
  result.nope_dim = c.count("qk_nope_head_dim");
  result.value_dim = c.count("v_head_dim");
  result.latent = c.count("kv_lora_rank");
  result.q_latent = c.nullable_count("q_lora_rank", 0);
  result.norm = norm;
  result.bias = c.flag("attention_bias", false);
  result.rope = read_rope(c, c.count("qk_rope_head_dim"));
  result.rope.interleaved = interleaved;
  const auto head_dim = static_cast<float>(result.nope_dim + result.rope.dim);
  result.scale = yarn_score_factor(c, result.rope) / std::sqrt(head_dim);
  return result;
}

}  // namespace matador
