// OLMo 1 (arXiv 2402.00838): Llama with layer norms that have neither weight nor bias, and
// optionally clipped queries, keys and values.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm{.kind = Norm::Kind::layer, .eps = 1e-5F, .has_weight = false};
  Attention attn = attention(c);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  attn.clip = c.positive("clip_qkv", 0);
  const Mlp mlp = gated_mlp(c);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kOlmo({"OlmoForCausalLM", "olmo", describe});

}  // namespace
}  // namespace matador
