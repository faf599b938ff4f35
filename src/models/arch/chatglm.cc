// ChatGLM 2 and 3, and GLM-4 as first published: neighbouring features of the first half of each
// head rotated; q, k and v in one tensor with a bias; gate and up in one.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

void name_keys(ConfigReader& c) {
  c.alias("num_hidden_layers", "num_layers");
  c.alias("intermediate_size", "ffn_hidden_size");
  c.alias("head_dim", "kv_channels");
  c.alias("vocab_size", "padded_vocab_size");
  c.alias("max_position_embeddings", "seq_length");
  c.alias("rms_norm_eps", "layernorm_epsilon");
  if (c.flag("multi_query_attention", false)) {
    c.alias("num_key_value_heads", "multi_query_group_num");
  }
}

void refuse_other_blocks(ConfigReader& c) {
  for (const char* key : {"rmsnorm", "post_layer_norm", "original_rope"}) {
    if (!c.flag(key, true)) c.refuse(key, "true");
  }
  if (c.flag("interleaved_qkv", false)) c.refuse("interleaved_qkv", "false");
  if (c.has("pre_seq_len")) c.refuse("pre_seq_len", "none");
}

DecoderSpec describe(ConfigReader& c) {
  name_keys(c);
  refuse_other_blocks(c);
  Norm norm = rms_norm(c);
  norm.eps = c.positive("rms_norm_eps", 1e-5F);
  Attention attn = attention(c, {.default_partial = 0.5F, .interleaved = true});
  attn.rope.theta *= c.positive("rope_ratio", 1);
  Mlp mlp = gated_mlp(c);
  attn.out_bias = mlp.bias = c.flag("add_bias_linear", false);
  attn.qkv_bias = attn.out_bias || c.flag("add_qkv_bias", false);
  Layer layer = {{.in = norm, .paths = {{.name = "attn", .op = attn}}},
                 {.in = norm, .paths = {{.name = "mlp", .op = mlp}}}};
  for (Residual& residual : layer) {
    residual.adds_to_normed = c.flag("apply_residual_connection_post_layernorm", false);
  }
  return decoder(c, norm, false, [&](int32_t) { return layer; });
}

std::vector<NameRule> names() {
  return {{{"embed"}, "transformer.embedding.word_embeddings"},
          {{"final_norm"}, "transformer.encoder.final_layernorm"},
          {{"head"}, "transformer.output_layer"},
          {{"attn.in_norm"}, "transformer.encoder.layers.{}.input_layernorm"},
          {{"attn.q", "attn.k", "attn.v"},
           "transformer.encoder.layers.{}.self_attention.query_key_value"},
          {{"attn.out"}, "transformer.encoder.layers.{}.self_attention.dense"},
          {{"mlp.in_norm"}, "transformer.encoder.layers.{}.post_attention_layernorm"},
          {{"mlp.gate", "mlp.up"}, "transformer.encoder.layers.{}.mlp.dense_h_to_4h"},
          {{"mlp.down"}, "transformer.encoder.layers.{}.mlp.dense_4h_to_h"}};
}

const Register kChatGlm({"ChatGLMModel", "chatglm", describe, names()});
const Register kGeneration({"ChatGLMForConditionalGeneration", "chatglm", describe, names()});

}  // namespace
}  // namespace matador
