// MiniCPM 3: latent attention with MiniCPM's factors on embeddings, residuals and logits.
#include <cmath>

#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  const Mla attn = mla(c, norm, false);
  const Mlp mlp = gated_mlp(c);
  const auto layers = static_cast<float>(num_layers(c));
  const float factor = c.number("scale_depth", 1) / std::sqrt(layers);
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t) {
    Layer layer = pre_norm(norm, attn, mlp);
    for (Residual& residual : layer) residual.scale = factor;
    return layer;
  });
  spec.embedding_factor = c.number("scale_emb", 1);
  const int32_t base = c.count("dim_model_base", spec.hidden_size);
  spec.logit_factor = static_cast<float>(base) / static_cast<float>(spec.hidden_size);
  return spec;
}

const Register kMiniCpm3({"MiniCPM3ForCausalLM", "minicpm3", describe});

}  // namespace
}  // namespace matador
