// Qwen 3 (arXiv 2505.09388): norms on the queries and keys of each head, heads of 128.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c, {}, 128);
  attn.qk_norm = per_head(norm, attn);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  const Mlp mlp = gated_mlp(c);
  const std::vector<int32_t> windows = qwen_windows(c);
  return decoder(c, norm, false, [&](int32_t i) {
    attn.attend.window = windows[static_cast<size_t>(i)];
    return pre_norm(norm, attn, mlp);
  });
}

const Register kQwen3({"Qwen3ForCausalLM", "qwen3", describe});

}  // namespace
}  // namespace matador
