// Aquila and Aquila 2: Llama under names of their own.
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

const Register kAquila({"AquilaForCausalLM", "aquila", describe});
const Register kAquilaModel({"AquilaModel", "aquila", describe});

}  // namespace
}  // namespace matador
