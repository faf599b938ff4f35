// ERNIE 4.5, the dense 0.3B: Llama with neighbouring features rotated.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  Norm norm = rms_norm(c);
  norm.eps = c.positive("rms_norm_eps", 1e-5F);
  c.fallback("num_key_value_heads", int64_t{2});
  Attention attn = attention(c, {.default_theta = 500000, .interleaved = true}, 128);
  Mlp mlp = gated_mlp(c);
  attn.qkv_bias = attn.out_bias = mlp.bias = c.flag("use_bias", false);
  return decoder(c, norm, true, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kErnie45({"Ernie4_5ForCausalLM", "ernie4_5", describe});
// As the first files on the hub have it.
const Register kErnie45Hub({"Ernie4_5_ForCausalLM", "ernie4_5", describe});

}  // namespace
}  // namespace matador
