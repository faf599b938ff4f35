// JAIS (arXiv 2308.16149): GPT-2 with ALiBi, a gated MLP, and factors by muP on the embeddings, the
// scores and the logits.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

void name_keys(ConfigReader& c) {
  gpt2_keys(c);
  c.alias("embeddings_scale", "mup_embeddings_scale");
  c.alias("width_scale", "mup_width_scale");
  c.alias("output_alpha", "mup_output_alpha");
  c.alias("scale_qk_dot_by_d", "mup_scale_qk_dot_by_d");
}

void refuse_other_blocks(ConfigReader& c) {
  const std::string positions = c.text("position_embedding_type", "learned");
  if (positions != "alibi") c.refuse("position_embedding_type", "alibi");
  if (c.text("activation_function", "gelu_new") != "swiglu") {
    c.refuse("activation_function", "swiglu");
  }
  if (c.has("alibi_scaling")) c.refuse("alibi_scaling", "none");
}

DecoderSpec describe(ConfigReader& c) {
  name_keys(c);
  refuse_other_blocks(c);
  const Norm norm = layer_norm(c, "layer_norm_epsilon");
  Attention attn = unrotated_attention(c);
  attn.qkv_bias = attn.out_bias = true;
  attn.attend.alibi_max = 8;
  if (!c.flag("scale_attn_weights", true)) attn.attend.scale = 1;
  if (c.flag("scale_qk_dot_by_d", false)) attn.attend.scale *= attn.attend.scale;
  const Mlp mlp{.hidden = c.count("hidden_size"),
                .inner = c.count("intermediate_size"),
                .act = Act::silu,
                .bias = true};
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t) { return pre_norm(norm, attn, mlp); });
  spec.embedding_factor = c.positive("embeddings_scale", 1);
  spec.logit_factor = c.positive("output_alpha", 1) * c.positive("width_scale", 1);
  return spec;
}

const Register kJais(
    {"JAISLMHeadModel",
     "jais",
     describe,
     {{{"embed"}, "transformer.wte"},
      {{"final_norm"}, "transformer.ln_f"},
      {{"attn.in_norm"}, "transformer.h.{}.ln_1"},
      {{"attn.q", "attn.k", "attn.v"}, "transformer.h.{}.attn.c_attn", Layout::transposed},
      {{"attn.out"}, "transformer.h.{}.attn.c_proj", Layout::transposed},
      {{"mlp.in_norm"}, "transformer.h.{}.ln_2"},
      {{"mlp.up"}, "transformer.h.{}.mlp.c_fc", Layout::transposed},
      {{"mlp.gate"}, "transformer.h.{}.mlp.c_fc2", Layout::transposed},
      {{"mlp.down"}, "transformer.h.{}.mlp.c_proj", Layout::transposed}}});

}  // namespace
}  // namespace matador
