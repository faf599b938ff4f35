// InternLM 1: Llama with biases on q, k, v and o, and a rope in an object of its own ("rotary").
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

// "dynamic" without a scaling_factor stretches the base from the trained length on.
void read_rotary(ConfigReader& c, Rope& rope) {
  rope.theta = c.positive("rotary.base", rope.theta);
  const std::string type = c.text("rotary.type", "origin");
  if (type == "dynamic") {
    rope.scaling = Rope::Scaling::dynamic;
    rope.factor = c.positive("rotary.scaling_factor", 1);
    rope.original_max_position = c.count("max_position_embeddings");
  } else if (type != "origin") {
    c.refuse("rotary.type", "origin or dynamic");
  }
}

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  read_rotary(c, attn.rope);
  attn.qkv_bias = attn.out_bias = c.flag("bias", true);
  const Mlp mlp = gated_mlp(c);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kInternLm({"InternLMForCausalLM", "internlm", describe});

}  // namespace
}  // namespace matador
