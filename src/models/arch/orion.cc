// Orion 14B (arXiv 2401.12246): Llama with layer norms, whose eps is called rms_norm_eps.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = layer_norm(c, "rms_norm_eps");
  Attention attn = attention(c);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  const Mlp mlp = gated_mlp(c);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kOrion({"OrionForCausalLM", "orion", describe});

}  // namespace
}  // namespace matador
