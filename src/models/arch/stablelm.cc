// StableLM 2 and StableLM 3B (arXiv 2402.17834): Llama with layer norms and a quarter of each head
// rotated. The 12B has attention and MLP side by side, and each head's queries and keys normed with
// weights of its own.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  c.alias("partial_rotary_factor", "rope_pct");
  const Norm norm = layer_norm(c, "norm_eps");
  Attention attn = attention(c, {.default_partial = 0.25F});
  attn.qkv_bias = c.flag("use_qkv_bias", false);
  if (c.flag("qk_layernorm", false)) {
    attn.qk_norm = per_head(norm, attn);
    attn.qk_norm.has_bias = false;
    attn.head_norms_differ = true;
  }
  const Mlp mlp = gated_mlp(c);
  const bool side_by_side = c.flag("use_parallel_residual", false);
  return decoder(c, norm, false, [&](int32_t) {
    return side_by_side ? parallel(norm, attn, mlp) : pre_norm(norm, attn, mlp);
  });
}

std::vector<NameRule> names() {
  return {{{"attn.q_norm"}, "model.layers.{}.self_attn.q_layernorm.norms.{}"},
          {{"attn.k_norm"}, "model.layers.{}.self_attn.k_layernorm.norms.{}"}};
}

const Register kStableLm({"StableLmForCausalLM", "stablelm", describe, names()});
// The first releases, with code of their own.
const Register kStableLmEpoch({"StableLMEpochForCausalLM", "stablelm_epoch", describe, names()});

}  // namespace
}  // namespace matador
