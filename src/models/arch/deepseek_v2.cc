// DeepSeek-V2 and its Lite (arXiv 2405.04434): latent attention, and from the first dense layers on
// experts by softmax beside shared ones.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  const Mla attn = mla(c, norm, true);
  Mlp dense = gated_mlp(c);
  dense.bias = c.flag("mlp_bias", false);
  Moe experts = moe(c);
  experts.shared_inner = experts.inner * c.nullable_count("n_shared_experts", 0);
  limit_groups(c, experts.routing);
  const std::string method = c.text("topk_method", "greedy");
  if (method == "greedy") {
    experts.routing.num_groups = experts.routing.top_groups = 1;
  } else if (method != "group_limited_greedy") {
    c.refuse("topk_method", "greedy or group_limited_greedy");
  }
  if (c.text("scoring_func", "softmax") != "softmax") c.refuse("scoring_func", "softmax");
  if (c.flag("norm_topk_prob", false)) c.refuse("norm_topk_prob", "false");
  if (c.count("moe_layer_freq", 1) != 1) c.refuse("moe_layer_freq", "1");
  const int32_t first = c.index("first_k_dense_replace", 0);
  return decoder(c, norm, false, [&](int32_t i) {
    return pre_norm(norm, attn, i < first ? SubLayer(dense) : SubLayer(experts));
  });
}

const Register kDeepseekV2({"DeepseekV2ForCausalLM", "deepseek_v2", describe});

}  // namespace
}  // namespace matador
