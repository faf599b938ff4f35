// Llama 1 to 3 (arXiv 2302.13971), and the many models that share its class.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  Mlp mlp = gated_mlp(c);
  mlp.bias = c.flag("mlp_bias", false);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kLlama({"LlamaForCausalLM", "llama", describe});

}  // namespace
}  // namespace matador
