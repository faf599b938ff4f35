// ERNIE 4.5 MoE: neighbouring features rotated; experts by softmax, whose correction chooses them,
// beside shared ones.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  c.fallback("rms_norm_eps", 1e-5);
  c.alias("num_experts_per_tok", "moe_k");
  const Norm norm = rms_norm(c);
  Attention attn = attention(c, {.default_theta = 500000, .interleaved = true});
  const Mlp dense = gated_mlp(c);
  if (c.flag("use_bias", false)) c.refuse("use_bias", "false");
  Moe experts = moe(c);
  experts.routing.corrected = experts.routing.normalise = true;
  experts.shared_inner = experts.inner * c.nullable_count("moe_num_shared_experts", 2);
  const int32_t first = c.index("moe_layer_start_index", 1);
  const int32_t step = c.count("moe_layer_interval", 1);
  const float last = c.number("moe_layer_end_index", -1);  // -1: to the end
  return decoder(c, norm, true, [&](int32_t i) {
    const bool ends = last >= 0 && static_cast<float>(i) > last;
    const bool sparse = (i + 1) % step == 0 && i >= first && !ends;
    return pre_norm(norm, attn, sparse ? SubLayer(experts) : SubLayer(dense));
  });
}

std::vector<NameRule> names() {
  return {{{"moe.correction"}, "model.layers.{}.mlp.moe_statics.e_score_correction_bias"},
          {{"moe.correction"}, "model.layers.{}.mlp.gate.moe_statics.e_score_correction_bias"}};
}

const Register kErnie45Moe({"Ernie4_5_MoeForCausalLM", "ernie4_5_moe", describe, names()});
// As the first files on the hub have it.
const Register kErnie45MoeHub({"Ernie4_5_MoEForCausalLM", "ernie4_5_moe", describe, names()});

}  // namespace
}  // namespace matador
