// Hunyuan, dense and with experts: Llama whose queries and keys are normed after the rotation, and
// whose rope's base is stretched once for all lengths ("dynamic" with an alpha).
#include <algorithm>
#include <cmath>

#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

Rope hunyuan_rope(ConfigReader& c, int32_t head_dim) {
  const std::string parameters = c.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
  if (!c.has(parameters + ".alpha")) return read_rope(c, head_dim);
  Rope rope = read_rope(c, head_dim, {.parameters = "rope_without_scaling"});
  if (c.has(parameters + ".rope_theta")) rope.theta = c.positive(parameters + ".rope_theta");
  const float alpha = c.positive(parameters + ".alpha");
  if (head_dim <= 2) c.refuse("head_dim", "more than 2 features for a stretched base");
  rope.theta *= std::pow(alpha, static_cast<float>(head_dim) / static_cast<float>(head_dim - 2));
  return rope;
}

// The larger models list some numbers for each layer, all equal.
void set_uniform(ConfigReader& c, std::string_view key, std::string_view listed) {
  const Config& config = c.config();
  const auto values = config.integers(listed);
  if (!values || values->empty()) {
    if (const auto value = config.integer(listed)) c.fallback(key, *value);
    return;
  }
  if (std::count(values->begin(), values->end(), values->front()) !=
      static_cast<int64_t>(values->size())) {
    c.refuse(listed, "the same number for every layer");
  }
  c.fallback(key, values->front());
}

DecoderSpec describe(ConfigReader& c) {
  Norm norm = rms_norm(c);
  norm.eps = c.positive("rms_norm_eps", 1e-5F);
  Attention attn = unrotated_attention(c);
  attn.rope = hunyuan_rope(c, attn.attend.head_dim);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  attn.qk_norm = per_head(norm, attn);
  attn.norm_after_rope = true;
  const Mlp mlp = gated_mlp(c);
  if (c.config().text("model_type") != "hunyuan_v1_moe") {
    return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
  }
  set_uniform(c, "num_experts_per_tok", "moe_topk");
  set_uniform(c, "expert_width", "moe_intermediate_size");
  set_uniform(c, "shared_experts", "num_shared_expert");
  Moe experts = moe(c, c.has("expert_width") ? "expert_width" : "intermediate_size");
  experts.routing.normalise = true;
  experts.shared_inner = mlp.inner * c.count("shared_experts", 1);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, experts); });
}

std::vector<NameRule> names() {
  const std::string layer = "model.layers.{}.";
  return {{{"attn.q_norm"}, layer + "self_attn.query_layernorm"},
          {{"attn.k_norm"}, layer + "self_attn.key_layernorm"},
          {{"moe.router"}, layer + "mlp.gate.wg"},
          {{"moe.shared_gate"}, layer + "mlp.shared_mlp.gate_proj"},
          {{"moe.shared_up"}, layer + "mlp.shared_mlp.up_proj"},
          {{"moe.shared_down"}, layer + "mlp.shared_mlp.down_proj"}};
}

const Register kHunyuan({"HunYuanDenseV1ForCausalLM", "hunyuan_v1_dense", describe, names()});
const Register kHunyuanMoe({"HunYuanMoEV1ForCausalLM", "hunyuan_v1_moe", describe, names()});

}  // namespace
}  // namespace matador
