// GLM 4.5 and 4.6 (arXiv 2508.06471): experts as DeepSeek-V3's, half-rotated heads, biases on
// queries, keys and values, and norms of queries and keys in the larger ones.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  c.fallback("rms_norm_eps", 1e-5);
  const Norm norm = rms_norm(c);
  c.fallback("partial_rotary_factor", 0.5);
  Attention attn = attention(c);
  attn.qkv_bias = c.flag("attention_bias", false);
  if (c.flag("use_qk_norm", false)) attn.qk_norm = per_head(norm, attn);
  const Mlp dense = gated_mlp(c);
  Moe experts = moe(c);
  experts.shared_inner = experts.inner * c.nullable_count("n_shared_experts", 1);
  limit_groups(c, experts.routing);
  experts.routing.score = Routing::Score::sigmoid;
  experts.routing.corrected = experts.routing.groups_by_two = true;
  experts.routing.normalise = c.flag("norm_topk_prob", true);
  const int32_t first = c.index("first_k_dense_replace", 1);
  return decoder(c, norm, false, [&](int32_t i) {
    return pre_norm(norm, attn, i < first ? SubLayer(dense) : SubLayer(experts));
  });
}

const Register kGlm4Moe({"Glm4MoeForCausalLM", "glm4_moe", describe});

}  // namespace
}  // namespace matador
