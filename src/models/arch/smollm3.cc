// SmolLM3: Llama without positions on every fourth layer (NoPE, arXiv 2501.18795).
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

// Whether each layer rotates: no_rope_layers has 1 where it does.
std::vector<bool> rotating_layers(ConfigReader& c, size_t layers) {
  const auto interval = static_cast<size_t>(c.count("no_rope_layer_interval", 4));
  std::vector<bool> rotates;
  for (size_t i = 0; i < layers; ++i) rotates.push_back((i + 1) % interval != 0);
  const auto flags = c.integers("no_rope_layers");
  if (!flags) return rotates;
  if (flags->size() < layers) {
    c.refuse("no_rope_layers", "a number for each layer");
    return rotates;
  }
  for (size_t i = 0; i < layers; ++i) rotates[i] = (*flags)[i] != 0;
  return rotates;
}

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c, {.default_theta = 2e6F});
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  const Rope rope = attn.rope;
  Mlp mlp = gated_mlp(c);
  mlp.bias = c.flag("mlp_bias", false);
  const std::vector<bool> rotates = rotating_layers(c, static_cast<size_t>(num_layers(c)));
  const int32_t window =
      c.flag("use_sliding_window", false) ? c.nullable_count("sliding_window", 0) : 0;
  const std::vector<bool> slides =
      sliding_layers(c, [&](int32_t i) { return !rotates[static_cast<size_t>(i)]; });
  return decoder(c, norm, true, [&](int32_t i) {
    attn.rope = rotates[static_cast<size_t>(i)] ? rope : Rope();
    attn.attend.window = slides[static_cast<size_t>(i)] ? window : 0;
    return pre_norm(norm, attn, mlp);
  });
}

const Register kSmolLm3({"SmolLM3ForCausalLM", "smollm3", describe});

}  // namespace
}  // namespace matador
