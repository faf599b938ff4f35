// Qwen 2 and 2.5 (arXiv 2407.10671): biases on q, k and v, and optionally a sliding window from
// layer max_window_layers on.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qkv_bias = true;
  const Mlp mlp = gated_mlp(c);
  const std::vector<int32_t> windows = qwen_windows(c);
  return decoder(c, norm, false, [&](int32_t i) {
    attn.attend.window = windows[static_cast<size_t>(i)];
    return pre_norm(norm, attn, mlp);
  });
}

const Register kQwen2({"Qwen2ForCausalLM", "qwen2", describe});

}  // namespace
}  // namespace matador
