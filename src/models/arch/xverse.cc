// XVERSE (the dense 7B, 13B, 65B): Llama under a name of its own.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  const Attention attn = attention(c);
  const Mlp mlp = gated_mlp(c);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kXverse({"XverseForCausalLM", "xverse", describe});

}  // namespace
}  // namespace matador
