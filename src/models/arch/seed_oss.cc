// Seed-OSS: Llama with heads of 128 and biases on q, k and v.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c, {}, 128);
  attn.qkv_bias = c.flag("attention_bias", true);
  attn.out_bias = c.flag("attention_out_bias", false);
  Mlp mlp = gated_mlp(c);
  mlp.bias = c.flag("mlp_bias", false);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kSeedOss({"SeedOssForCausalLM", "seed_oss", describe});

}  // namespace
}  // namespace matador
