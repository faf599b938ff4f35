// OPT (arXiv 2205.01068): learned positions that begin at row 2, ReLU, biases. The 350m has its
// norms after the sums, none at the end, and narrower embeddings between two projections.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

Layer post_norm(const Norm& norm, const Attention& attention, const Mlp& mlp) {
  return {{.paths = {{.name = "attn", .op = attention}}, .after = norm},
          {.paths = {{.name = "mlp", .op = mlp}}, .after = norm}};
}

DecoderSpec describe(ConfigReader& c) {
  c.alias("intermediate_size", "ffn_dim");
  c.alias("hidden_act", "activation_function");
  Norm norm{.kind = Norm::Kind::layer, .eps = 1e-5F};
  norm.has_weight = norm.has_bias = c.flag("layer_norm_elementwise_affine", true);
  Attention attn = unrotated_attention(c);
  Mlp mlp = plain_mlp(c, "relu");
  attn.qkv_bias = attn.out_bias = mlp.bias = c.flag("enable_bias", true);
  const bool before = c.flag("do_layer_norm_before", true);
  const bool last = before && !c.flag("_remove_final_layer_norm", false);
  DecoderSpec spec = decoder(c, last ? norm : Norm(), true, [&](int32_t) {
    return before ? pre_norm(norm, attn, mlp) : post_norm(norm, attn, mlp);
  });
  spec.positions = {.rows = spec.max_position + 2, .offset = 2};
  const int32_t width = c.count("word_embed_proj_dim", spec.hidden_size);
  if (width != spec.hidden_size) spec.embedding_size = width;
  return spec;
}

std::vector<NameRule> names() {
  const std::string_view prefixes[] = {"model.decoder.", "decoder."};
  const NameRule rules[] = {{{"embed"}, "embed_tokens"},
                            {{"positions"}, "embed_positions"},
                            {{"project_in"}, "project_in"},
                            {{"project_out"}, "project_out"},
                            {{"final_norm"}, "final_layer_norm"},
                            {{"attn.in_norm"}, "layers.{}.self_attn_layer_norm"},
                            {{"attn.after_norm"}, "layers.{}.self_attn_layer_norm"},
                            {{"attn.q"}, "layers.{}.self_attn.q_proj"},
                            {{"attn.k"}, "layers.{}.self_attn.k_proj"},
                            {{"attn.v"}, "layers.{}.self_attn.v_proj"},
                            {{"attn.out"}, "layers.{}.self_attn.out_proj"},
                            {{"mlp.in_norm"}, "layers.{}.final_layer_norm"},
                            {{"mlp.after_norm"}, "layers.{}.final_layer_norm"},
                            {{"mlp.up"}, "layers.{}.fc1"},
                            {{"mlp.down"}, "layers.{}.fc2"}};
  return with_prefixes(prefixes, rules);
}

const Register kOpt({"OPTForCausalLM", "opt", describe, names()});

}  // namespace
}  // namespace matador
