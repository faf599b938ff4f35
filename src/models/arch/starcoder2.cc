// StarCoder 2 (arXiv 2402.19173): layer norms, biases, a plain MLP, a sliding window on all layers.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = layer_norm(c, "norm_epsilon");
  Attention attn = attention(c);
  Mlp mlp = plain_mlp(c, "gelu_pytorch_tanh");
  attn.qkv_bias = attn.out_bias = mlp.bias = c.flag("use_bias", true);
  attn.attend.window = c.nullable_count("sliding_window", 0);
  return decoder(c, norm, true, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kStarcoder2({"Starcoder2ForCausalLM",
                            "starcoder2",
                            describe,
                            {{{"mlp.up"}, "model.layers.{}.mlp.c_fc"},
                             {{"mlp.down"}, "model.layers.{}.mlp.c_proj"}}});

}  // namespace
}  // namespace matador
