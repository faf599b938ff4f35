// EXAONE 4 (arXiv 2507.11407): norms of the sub-layers' outputs and of each head's queries and
// keys. Where a window is set, every fourth layer sees everything and has no positions.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

// sliding_window_pattern is the period, or spelled out: "LLLG".
int32_t period_of(ConfigReader& c) {
  if (const auto pattern = c.config().text("sliding_window_pattern")) {
    return std::max(1, static_cast<int32_t>(pattern->size()));
  }
  return c.count("sliding_window_pattern", 4);
}

DecoderSpec describe(ConfigReader& c) {
  Norm norm = rms_norm(c);
  norm.eps = c.positive("rms_norm_eps", 1e-5F);
  Attention full = attention(c);
  full.qk_norm = per_head(norm, full);
  Attention sliding = full;
  sliding.attend.window = c.nullable_count("sliding_window", 4096);
  if (sliding.attend.window > 0) full.rope = {};
  const Mlp mlp = gated_mlp(c);
  const int32_t period = sliding.attend.window > 0 ? period_of(c) : 1;
  const std::vector<bool> slides =
      sliding_layers(c, [&](int32_t i) { return (i + 1) % period != 0; });
  return decoder(c, norm, false, [&](int32_t i) {
    return output_norm(norm, slides[static_cast<size_t>(i)] ? sliding : full, mlp);
  });
}

const Register kExaone4({"Exaone4ForCausalLM", "exaone4", describe, output_norm_names()});

}  // namespace
}  // namespace matador
