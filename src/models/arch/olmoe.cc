// OLMoE (arXiv 2409.02060): a mixture of experts, with norms over whole queries and keys.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  c.fallback("rms_norm_eps", 1e-5);
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qk_norm = norm;
  attn.clip = c.nullable_positive("clip_qkv", 0);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  Moe experts = moe(c, "intermediate_size");
  experts.routing.normalise = c.flag("norm_topk_prob", false);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, experts); });
}

const Register kOlmoe({"OlmoeForCausalLM", "olmoe", describe});

}  // namespace
}  // namespace matador
