// gpt-oss (arXiv 2508.10925): attention sinks, a window on every other layer, and experts with
// biases whose gated products are limited.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  c.fallback("rms_norm_eps", 1e-5);
  const Norm norm = rms_norm(c);
  Attention attn = attention(c, {.default_theta = 150000}, 64);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", true);
  attn.sinks = true;
  Moe experts = moe(c, "intermediate_size");
  experts.routing.normalise = true;
  experts.bias = experts.router_bias = true;
  if (c.number("swiglu_alpha", 1.702F) != 1.702F) c.refuse("swiglu_alpha", "1.702");
  experts.expert = {.act = Act::quick_gelu, .limit = c.positive("swiglu_limit", 7), .up_offset = 1};
  const int32_t window = c.nullable_count("sliding_window", 128);
  const std::vector<bool> slides = sliding_layers(c, [](int32_t i) { return i % 2 == 0; });
  return decoder(c, norm, false, [&](int32_t i) {
    attn.attend.window = slides[static_cast<size_t>(i)] ? window : 0;
    return pre_norm(norm, attn, experts);
  });
}

std::vector<NameRule> names() {
  const std::string mlp = "model.layers.{}.mlp.";
  return {{{"moe.router"}, mlp + "router"},
          {{"moe.gate", "moe.up"}, mlp + "experts.gate_up_proj", Layout::transposed_by_part},
          {{"moe.down"}, mlp + "experts.down_proj", Layout::transposed}};
}

const Register kGptOss({"GptOssForCausalLM", "gpt_oss", describe, names()});

}  // namespace
}  // namespace matador
