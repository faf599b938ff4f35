// Nemotron 4 and Minitron (arXiv 2402.16819): layer norms whose weights are stored less one,
// squared ReLU, half of each head rotated.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  Norm norm = layer_norm(c, "norm_eps");
  norm.weight_offset = c.flag("norm_weights_include_offset", false) ? 0 : 1;
  Attention attn = attention(c, {.default_partial = 0.5F});
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  Mlp mlp = plain_mlp(c, "relu2");
  mlp.bias = c.flag("mlp_bias", false);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kNemotron({"NemotronForCausalLM", "nemotron", describe});

}  // namespace
}  // namespace matador
