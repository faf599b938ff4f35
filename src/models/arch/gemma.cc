// Gemma 1 (arXiv 2403.08295): wide heads, norm weights stored less one, embeddings times
// sqrt(hidden), a tied head.
#include <cmath>

#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = gemma_norm(c);
  Attention attn = attention(c, {}, 256);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  Mlp mlp = gated_mlp(c);
  // The first releases say "gelu" and mean its tanh form.
  mlp.act = read_act(c, "hidden_act", "gelu_pytorch_tanh");
  if (mlp.act == Act::gelu) mlp.act = Act::gelu_tanh;
  refuse_bidirectional(c);
  DecoderSpec spec = decoder(c, norm, true, [&](int32_t) { return pre_norm(norm, attn, mlp); });
  spec.embedding_factor = std::sqrt(static_cast<float>(spec.hidden_size));
  return spec;
}

const Register kGemma({"GemmaForCausalLM", "gemma", describe});

}  // namespace
}  // namespace matador
