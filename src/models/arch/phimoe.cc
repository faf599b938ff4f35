// Phi 3.5 MoE (arXiv 2404.14219): layer norms, biases, and experts chosen by sparsemixer. The hub's
// configs and transformers write the class's name in two ways.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = layer_norm(c, "rms_norm_eps");
  Attention attn = attention(c);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  attn.attend.window = c.nullable_count("sliding_window", 0);
  Moe experts = moe(c, "intermediate_size");
  experts.routing.score = Routing::Score::sparsemixer;
  experts.routing.jitter = c.number("router_jitter_noise", 0.01F);
  if (experts.routing.top_k != 2) c.refuse("num_experts_per_tok", "2, as sparsemixer has it");
  DecoderSpec spec =
      decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, experts); });
  spec.head_bias = c.flag("lm_head_bias", false);
  return spec;
}

const Register kPhiMoe({"PhiMoEForCausalLM", "phimoe", describe, mixtral_names()});
const Register kPhimoe({"PhimoeForCausalLM", "phimoe", describe, mixtral_names()});

}  // namespace
}  // namespace matador
