// InternLM 2 and 2.5 (arXiv 2403.17297): Llama with the queries of each kv head beside its key and
// value in one tensor.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qkv_bias = attn.out_bias = c.flag("bias", false);
  const Mlp mlp = gated_mlp(c);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kInternLm2(
    {"InternLM2ForCausalLM",
     "internlm2",
     describe,
     {{{"embed"}, "model.tok_embeddings"},
      {{"head"}, "output"},
      {{"attn.in_norm"}, "model.layers.{}.attention_norm"},
      {{"attn.q", "attn.k", "attn.v"}, "model.layers.{}.attention.wqkv", Layout::by_part},
      {{"attn.out"}, "model.layers.{}.attention.wo"},
      {{"mlp.in_norm"}, "model.layers.{}.ffn_norm"},
      {{"mlp.gate"}, "model.layers.{}.feed_forward.w1"},
      {{"mlp.up"}, "model.layers.{}.feed_forward.w3"},
      {{"mlp.down"}, "model.layers.{}.feed_forward.w2"}}});

}  // namespace
}  // namespace matador
