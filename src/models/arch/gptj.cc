// GPT-J: attention and MLP side by side after one layer norm, neighbouring features rotated, a head
// with a bias.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  gpt2_keys(c);
  const Norm norm = layer_norm(c, "layer_norm_epsilon");
  Attention attn = attention(c, {.interleaved = true});
  attn.rope.dim = rotated_features(c, attn, "rotary_dim", 64);
  const Mlp mlp = plain_mlp(c, "gelu_new");
  DecoderSpec spec = decoder(c, norm, false, [&](int32_t) { return parallel(norm, attn, mlp); });
  spec.head_bias = true;
  return spec;
}

std::vector<NameRule> names() {
  const NameRule rules[] = {{{"embed"}, "wte"},
                            {{"final_norm"}, "ln_f"},
                            {{"attn.in_norm"}, "h.{}.ln_1"},
                            {{"attn.q"}, "h.{}.attn.q_proj"},
                            {{"attn.k"}, "h.{}.attn.k_proj"},
                            {{"attn.v"}, "h.{}.attn.v_proj"},
                            {{"attn.out"}, "h.{}.attn.out_proj"},
                            {{"mlp.up"}, "h.{}.mlp.fc_in"},
                            {{"mlp.down"}, "h.{}.mlp.fc_out"}};
  return with_prefixes(kTransformerPrefixes, rules);
}

const Register kGptJ({"GPTJForCausalLM", "gptj", describe, names()});

}  // namespace
}  // namespace matador
