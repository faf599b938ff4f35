// OLMo 3: OLMo 2 with a sliding window on three layers of four; scaled rope on the fourth alone.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  Norm norm = rms_norm(c);
  norm.eps = c.positive("rms_norm_eps", 1e-5F);
  const std::string parameters =
      c.has("rope_scaling") ? "rope_scaling" : "rope_parameters.full_attention";
  Attention full = attention(c, {.parameters = parameters, .default_theta = 500000});
  full.qk_norm = norm;
  full.qkv_bias = full.out_bias = c.flag("attention_bias", false);
  Attention sliding = full;
  sliding.rope =
      read_rope(c, full.attend.head_dim,
                {.parameters = "rope_parameters.sliding_attention", .default_theta = 500000});
  sliding.attend.window = c.nullable_count("sliding_window", 4096);
  const Mlp mlp = gated_mlp(c);
  const std::vector<bool> slides = sliding_layers(c, [](int32_t i) { return (i + 1) % 4 != 0; });
  return decoder(c, norm, false, [&](int32_t i) {
    return output_norm(norm, slides[static_cast<size_t>(i)] ? sliding : full, mlp);
  });
}

const Register kOlmo3({"Olmo3ForCausalLM", "olmo3", describe, output_norm_names()});

}  // namespace
}  // namespace matador
