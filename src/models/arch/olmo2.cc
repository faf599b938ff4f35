// OLMo 2 (arXiv 2501.00656): norms of the sub-layers' outputs instead of their inputs, and of all
// queries and all keys as one row.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  Norm norm = rms_norm(c);
  norm.eps = c.positive("rms_norm_eps", 1e-5F);
  Attention attn = attention(c);
  attn.qk_norm = norm;
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  const Mlp mlp = gated_mlp(c);
  return decoder(c, norm, false, [&](int32_t) { return output_norm(norm, attn, mlp); });
}

const Register kOlmo2({"Olmo2ForCausalLM", "olmo2", describe, output_norm_names()});

}  // namespace
}  // namespace matador
