// Mistral 7B and its successors (arXiv 2310.06825): Llama with a sliding window on all layers.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.attend.window = c.nullable_count("sliding_window", 4096);
  const Mlp mlp = gated_mlp(c);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kMistral({"MistralForCausalLM", "mistral", describe});

}  // namespace
}  // namespace matador
