// MiniCPM 1 and 2 (arXiv 2404.06395): Llama with factors on the embeddings, the residuals (by the
// depth) and the logits (by the width).
#include <cmath>

#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  const Mlp mlp = gated_mlp(c);
  for (const char* key : {"sparse_config", "num_experts"}) {
    if (c.has(key)) c.refuse(key, "none");
  }
  Layer layer = pre_norm(norm, attn, mlp);
  for (Residual& residual : layer) {
    // GGUF has the factors themselves, under Granite's names.
    residual.scale =
        c.positive("residual_multiplier",
                   c.positive("scale_depth", 1) / std::sqrt(static_cast<float>(num_layers(c))));
  }
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t) { return layer; });
  spec.embedding_factor = c.positive("scale_emb", 1);
  const auto hidden = static_cast<float>(spec.hidden_size);
  spec.logit_factor = 1 / c.positive("logits_scaling", hidden / c.positive("dim_model_base", 1));
  return spec;
}

const Register kMiniCpm({"MiniCPMForCausalLM", "minicpm", describe});

}  // namespace
}  // namespace matador
