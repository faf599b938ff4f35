// Command R7B and A: Command R with a sliding window on three layers of four; the fourth sees
// everything and has no positions.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  Norm norm = layer_norm(c, "layer_norm_eps");
  norm.has_bias = false;
  Attention sliding = attention(c, {.interleaved = true});
  sliding.qkv_bias = sliding.out_bias = c.flag("attention_bias", false);
  Attention full = sliding;
  full.rope = {};
  sliding.attend.window = c.count("sliding_window", 4096);
  const Mlp mlp = gated_mlp(c);
  const int32_t period = c.count("sliding_window_pattern", 4);
  const std::vector<bool> slides =
      sliding_layers(c, [&](int32_t i) { return (i + 1) % period != 0; });
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t i) {
    return parallel(norm, slides[static_cast<size_t>(i)] ? sliding : full, mlp);
  });
  spec.logit_factor = c.number("logit_scale", 0.0625F);
  return spec;
}

const Register kCohere2({"Cohere2ForCausalLM", "cohere2", describe});

}  // namespace
}  // namespace matador
