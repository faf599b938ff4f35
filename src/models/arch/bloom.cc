// BLOOM (arXiv 2211.05100): ALiBi instead of positions, a norm on the embeddings, each head's
// query, key and value side by side.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  c.alias("hidden_size", "n_embed");
  c.alias("num_attention_heads", "n_head");
  c.alias("num_hidden_layers", "n_layer");
  c.alias("max_position_embeddings", "seq_length");
  c.fallback("max_position_embeddings", int64_t{2048});
  c.fallback("intermediate_size", 4 * int64_t{c.count("hidden_size")});
  const Norm norm = layer_norm(c, "layer_norm_epsilon");
  Attention attn = unrotated_attention(c);
  attn.qkv_bias = attn.out_bias = true;
  attn.attend.alibi_max = 8;
  Mlp mlp = plain_mlp(c, "gelu_pytorch_tanh");
  Layer layer = {{.in = norm, .paths = {{.name = "attn", .op = attn}}},
                 {.in = norm, .paths = {{.name = "mlp", .op = mlp}}}};
  for (Residual& residual : layer) {
    residual.adds_to_normed = c.flag("apply_residual_connection_post_layernorm", false);
  }
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t) { return layer; });
  spec.embedding_norm = norm;
  return spec;
}

std::vector<NameRule> names() {
  const NameRule rules[] = {
      {{"embed"}, "word_embeddings"},
      {{"embedding_norm"}, "word_embeddings_layernorm"},
      {{"final_norm"}, "ln_f"},
      {{"attn.in_norm"}, "h.{}.input_layernorm"},
      {{"attn.q", "attn.k", "attn.v"}, "h.{}.self_attention.query_key_value", Layout::by_part},
      {{"attn.out"}, "h.{}.self_attention.dense"},
      {{"mlp.in_norm"}, "h.{}.post_attention_layernorm"},
      {{"mlp.up"}, "h.{}.mlp.dense_h_to_4h"},
      {{"mlp.down"}, "h.{}.mlp.dense_4h_to_h"}};
  return with_prefixes(kTransformerPrefixes, rules);
}

const Register kBloom({"BloomForCausalLM", "bloom", describe, names()});

}  // namespace
}  // namespace matador
