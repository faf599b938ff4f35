// Granite 3 MoE: Granite's factors, experts chosen and then weighed by a softmax among the chosen;
// in the second class beside an expert that all tokens share.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  attn.attend.scale = c.number("attention_multiplier", 1);
  Moe experts = moe(c, "intermediate_size");
  experts.routing.normalise = true;
  experts.shared_inner = c.nullable_count("shared_intermediate_size", 0);
  const float factor = c.number("residual_multiplier", 1);
  DecoderSpec spec = decoder(c, norm, false, [&](int32_t) {
    Layer layer = pre_norm(norm, attn, experts);
    for (Residual& residual : layer) residual.scale = factor;
    return layer;
  });
  spec.embedding_factor = c.number("embedding_multiplier", 1);
  spec.logit_factor = 1 / c.positive("logits_scaling", 1);
  return spec;
}

std::vector<NameRule> names() {
  const std::string layer = "model.layers.{}.";
  return {{{"moe.router"}, layer + "block_sparse_moe.router.layer"},
          {{"moe.router"}, layer + "block_sparse_moe.router"},
          {{"moe.gate", "moe.up"}, layer + "block_sparse_moe.input_linear"},
          {{"moe.gate", "moe.up"}, layer + "block_sparse_moe.experts.gate_up_proj"},
          {{"moe.down"}, layer + "block_sparse_moe.output_linear"},
          {{"moe.down"}, layer + "block_sparse_moe.experts.down_proj"},
          {{"moe.shared_gate", "moe.shared_up"}, layer + "shared_mlp.input_linear"},
          {{"moe.shared_down"}, layer + "shared_mlp.output_linear"}};
}

const Register kGraniteMoe({"GraniteMoeForCausalLM", "granitemoe", describe, names()});
const Register kGraniteMoeShared({"GraniteMoeSharedForCausalLM", "granitemoeshared", describe,
                                  names()});

}  // namespace
}  // namespace matador
