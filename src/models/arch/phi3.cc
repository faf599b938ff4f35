// Phi-3 and Phi-4-mini (arXiv 2404.14219): Llama with q, k, v and gate, up each in one tensor.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  Norm norm = rms_norm(c);
  norm.eps = c.positive("rms_norm_eps", 1e-5F);
  Attention attn = attention(c, {.default_original_max_position = 4096});
  attn.attend.window = c.nullable_count("sliding_window", 0);
  const Mlp mlp = gated_mlp(c);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kPhi3({"Phi3ForCausalLM",
                      "phi3",
                      describe,
                      {{{"attn.q", "attn.k", "attn.v"}, "model.layers.{}.self_attn.qkv_proj"},
                       {{"mlp.gate", "mlp.up"}, "model.layers.{}.mlp.gate_up_proj"}}});

}  // namespace
}  // namespace matador
