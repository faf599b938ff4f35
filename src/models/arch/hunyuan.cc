// Hunyuan dense: Llama whose queries and keys are normed after the rotation, and whose rope's base
// is stretched once for all lengths ("dynamic" with an alpha).
#include <cmath>

#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

Rope hunyuan_rope(ConfigReader& c, int32_t head_dim) {
  const std::string parameters = c.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
  if (!c.has(parameters + ".alpha")) return read_rope(c, head_dim);
  Rope rope = read_rope(c, head_dim, {.parameters = "rope_without_scaling"});
  if (c.has(parameters + ".rope_theta")) rope.theta = c.positive(parameters + ".rope_theta");
  const float alpha = c.positive(parameters + ".alpha");
  if (head_dim <= 2) c.refuse("head_dim", "more than 2 features for a stretched base");
  rope.theta *= std::pow(alpha, static_cast<float>(head_dim) / static_cast<float>(head_dim - 2));
  return rope;
}

DecoderSpec describe(ConfigReader& c) {
  Norm norm = rms_norm(c);
  norm.eps = c.positive("rms_norm_eps", 1e-5F);
  Attention attn = unrotated_attention(c);
  attn.rope = hunyuan_rope(c, attn.attend.head_dim);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  attn.qk_norm = per_head(norm, attn);
  attn.norm_after_rope = true;
  const Mlp mlp = gated_mlp(c);
  return decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
}

const Register kHunyuan({"HunYuanDenseV1ForCausalLM",
                         "hunyuan_v1_dense",
                         describe,
                         {{{"attn.q_norm"}, "model.layers.{}.self_attn.query_layernorm"},
                          {{"attn.k_norm"}, "model.layers.{}.self_attn.key_layernorm"}}});

}  // namespace
}  // namespace matador
