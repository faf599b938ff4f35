// InternLM 3: Llama with biases of q, k and v apart from all others.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  Mlp mlp = gated_mlp(c);
  attn.qkv_bias = c.flag("qkv_bias", false);
  attn.out_bias = mlp.bias = c.flag("bias", false);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kInternLm3({"InternLM3ForCausalLM", "internlm3", describe});

}  // namespace
}  // namespace matador
