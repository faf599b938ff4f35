// MiniMax M2: partly rotated heads, norms over whole queries and keys, and experts by sigmoid,
// whose correction chooses them.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c, {}, 128);
  if (c.has("rotary_dim")) {
    attn.rope.dim = rotated_features(c, attn, "rotary_dim", attn.attend.head_dim);
  }
  if (c.flag("use_qk_norm", true)) attn.qk_norm = norm;
  if (c.text("qk_norm_type", "per_layer") != "per_layer") c.refuse("qk_norm_type", "per_layer");
  Moe experts = moe(c, "intermediate_size");
  if (c.text("scoring_func", "sigmoid") != "sigmoid") c.refuse("scoring_func", "sigmoid");
  experts.routing.score = Routing::Score::sigmoid;
  experts.routing.corrected = experts.routing.normalise = true;
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, experts); });
}

std::vector<NameRule> names() {
  std::vector<NameRule> rules = mixtral_names();
  for (std::string_view block : {"block_sparse_moe", "mlp"}) {
    rules.push_back(
        {{"moe.correction"}, "model.layers.{}." + std::string(block) + ".e_score_correction_bias"});
  }
  return rules;
}

const Register kMiniMaxM2({"MiniMaxM2ForCausalLM", "minimax_m2", describe, names()});

}  // namespace
}  // namespace matador
