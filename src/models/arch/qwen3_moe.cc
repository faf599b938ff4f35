// Qwen 3 MoE (arXiv 2505.09388): Qwen 3 with a mixture of experts.
#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qk_norm = per_head(norm, attn);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  const bool slides = c.flag("use_sliding_window", false);
  attn.attend.window = slides ? c.nullable_count("sliding_window", 4096) : 0;
  const Mlp dense = gated_mlp(c);
  Moe experts = moe(c);
  experts.routing.normalise = c.flag("norm_topk_prob", false);
  const std::vector<bool> sparse = qwen_sparse_layers(c);
  return decoder(c, norm, false, [&](int32_t i) {
    const bool has_experts = sparse[static_cast<size_t>(i)];
    return pre_norm(norm, attn, has_experts ? SubLayer(experts) : SubLayer(dense));
  });
}

const Register kQwen3Moe({"Qwen3MoeForCausalLM", "qwen3_moe", describe});

}  // namespace
}  // namespace matador
