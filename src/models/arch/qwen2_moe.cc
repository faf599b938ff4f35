// Qwen1.5 and Qwen 2 MoE: Qwen 2 with experts, and one that all tokens share, weighed by a sigmoid.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qkv_bias = c.flag("qkv_bias", true);
  const Mlp dense = gated_mlp(c);
  Moe experts = moe(c);
  experts.routing.normalise = c.flag("norm_topk_prob", false);
  experts.shared_inner = c.count("shared_expert_intermediate_size");
  experts.shared_gate = true;
  const bool used = c.flag("use_sliding_window", false);
  const int32_t window = used ? c.nullable_count("sliding_window", 4096) : 0;
  const int32_t last = c.index("max_window_layers", 28);
  const std::vector<bool> slides =
      sliding_layers(c, [&](int32_t i) { return i % 2 == 0 && i < last; });
  const std::vector<bool> sparse = qwen_sparse_layers(c);
  return decoder(c, norm, false, [&](int32_t i) {
    const auto layer = static_cast<size_t>(i);
    attn.attend.window = slides[layer] ? window : 0;
    return pre_norm(norm, attn, sparse[layer] ? SubLayer(experts) : SubLayer(dense));
  });
}

const Register kQwen2Moe({"Qwen2MoeForCausalLM",
                          "qwen2_moe",
                          describe,
                          {{{"moe.shared_gate"}, "model.layers.{}.mlp.shared_expert.gate_proj"},
                           {{"moe.shared_up"}, "model.layers.{}.mlp.shared_expert.up_proj"},
                           {{"moe.shared_down"}, "model.layers.{}.mlp.shared_expert.down_proj"},
                           {{"moe.shared_router"}, "model.layers.{}.mlp.shared_expert_gate"}}});

}  // namespace
}  // namespace matador
