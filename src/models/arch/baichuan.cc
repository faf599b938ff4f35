// Baichuan 1 and 2 (arXiv 2309.10305): Llama with q, k and v in one tensor. The 13B have ALiBi and
// no max_position_embeddings; Baichuan 2, whose configs have z_loss_weight, gives the head's rows
// length 1.
#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  const bool rotates = c.has("max_position_embeddings");
  c.alias("max_position_embeddings", "model_max_length");
  Attention attn = rotates ? attention(c) : unrotated_attention(c);
  if (!rotates) attn.attend.alibi_max = 8;
  const Mlp mlp = gated_mlp(c);
  DecoderSpec spec = decoder(c, norm, false, [&](int32_t) { return pre_norm(norm, attn, mlp); });
  spec.unit_head = c.has("z_loss_weight");
  return spec;
}

std::vector<NameRule> names() {
  return {{{"attn.q", "attn.k", "attn.v"}, "model.layers.{}.self_attn.W_pack"}};
}

const Register kBaichuan({"BaichuanForCausalLM", "baichuan", describe, names()});
// The first 7B.
const Register kBaiChuan({"BaiChuanForCausalLM", "baichuan", describe, names()});

}  // namespace
}  // namespace matador
