// Mixtral (arXiv 2401.04088): Mistral with a mixture of experts in each layer.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  c.fallback("rms_norm_eps", 1e-5);
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.attend.window = c.nullable_count("sliding_window", 0);
  Moe experts = moe(c, "intermediate_size");
  experts.routing.normalise = true;
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, experts); });
}

const Register kMixtral({"MixtralForCausalLM", "mixtral", describe, mixtral_names()});

}  // namespace
}  // namespace matador
