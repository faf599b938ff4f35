// DeepSeek-V3 and R1 (arXiv 2412.19437), Kimi K2: V2 with sigmoid scores, whose correction chooses
// the experts, among the groups that are best by their best two.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  const Mla attn = mla(c, norm, c.flag("rope_interleave", true));
  const Mlp dense = gated_mlp(c);
  Moe experts = moe(c);
  experts.shared_inner = experts.inner * c.nullable_count("n_shared_experts", 1);
  limit_groups(c, experts.routing);
  experts.routing.score = Routing::Score::sigmoid;
  experts.routing.corrected = experts.routing.groups_by_two = true;
  experts.routing.normalise = c.flag("norm_topk_prob", true);
  if (c.text("scoring_func", "sigmoid") != "sigmoid") c.refuse("scoring_func", "sigmoid");
  if (c.text("topk_method", "noaux_tc") != "noaux_tc") c.refuse("topk_method", "noaux_tc");
  if (c.count("moe_layer_freq", 1) != 1) c.refuse("moe_layer_freq", "1");
  const int32_t first = c.index("first_k_dense_replace", 3);
  return decoder(c, norm, false, [&](int32_t i) {
    return pre_norm(norm, attn, i < first ? SubLayer(dense) : SubLayer(experts));
  });
}

const Register kDeepseekV3({"DeepseekV3ForCausalLM", "deepseek_v3", describe});

}  // namespace
}  // namespace matador
