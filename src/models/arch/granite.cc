// Granite 3 and 4 dense: Llama with factors on the embeddings, the scores, the residuals and the
// logits.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  attn.attend.scale = c.number("attention_multiplier", 1);
  Mlp mlp = gated_mlp(c);
  mlp.bias = c.flag("mlp_bias", false);
  Layer layer = pre_norm(norm, attn, mlp);
  for (Residual& residual : layer) residual.scale = c.number("residual_multiplier", 1);
  DecoderSpec spec = decoder(c, norm, false, [&](int32_t) { return layer; });
  spec.embedding_factor = c.number("embedding_multiplier", 1);
  spec.logit_factor = 1 / c.positive("logits_scaling", 1);
  return spec;
}

const Register kGranite({"GraniteForCausalLM", "granite", describe});

}  // namespace
}  // namespace matador
