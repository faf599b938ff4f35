// Llama 4's text model: chunked attention on rotated layers, hotter scores far into the context on
// the others, and experts that read the input times their weight, beside a shared one.
#include <algorithm>

#include "models/describe_moe.h"
#include "models/registry.h"

namespace matador {
namespace {

// One flag a layer from a list of numbers, or what `otherwise` says.
std::vector<bool> layer_flags(ConfigReader& c, std::string_view key,
                              const std::function<bool(int32_t)>& otherwise) {
  const std::vector<int64_t> listed = c.integers(key).value_or(std::vector<int64_t>());
  const int32_t layers = num_layers(c);
  if (!listed.empty() && listed.size() != static_cast<size_t>(layers)) {
    c.refuse(key, "one number for each of num_hidden_layers");
  }
  std::vector<bool> flags;
  for (int32_t i = 0; i < layers; ++i) {
    const auto at = static_cast<size_t>(i);
    flags.push_back(at < listed.size() ? listed[at] != 0 : otherwise(i));
  }
  return flags;
}

// moe_layers, or every interleave_moe_layer_step-th.
std::vector<bool> sparse_layers(ConfigReader& c) {
  const int32_t step = c.count("interleave_moe_layer_step", 1);
  const auto listed = c.integers("moe_layers");
  std::vector<bool> sparse;
  for (int32_t i = 0; i < num_layers(c); ++i) {
    const bool in_list = listed && std::find(listed->begin(), listed->end(), i) != listed->end();
    sparse.push_back(listed ? in_list : (i + 1) % step == 0);
  }
  return sparse;
}

Attention with_rope(ConfigReader& c, Attention attn, const Norm& norm) {
  attn.attend.chunk = c.nullable_count("attention_chunk_size", 8192);
  if (!c.flag("use_qk_norm", true)) return attn;
  attn.qk_norm = per_head(norm, attn);
  attn.qk_norm.has_weight = false;
  attn.norm_after_rope = true;
  return attn;
}

Attention without_rope(ConfigReader& c, Attention attn) {
  attn.rope = {};
  if (!c.flag("attn_temperature_tuning", true)) return attn;
  attn.attend.temperature = c.number("attn_scale", 0.1F);
  attn.attend.temperature_floor = c.positive("floor_scale", 8192);
  return attn;
}

DecoderSpec describe(ConfigReader& c) {
  c.fallback("rms_norm_eps", 1e-5);
  const Norm norm = rms_norm(c);
  Attention attn = attention(c, {.default_theta = 500000, .interleaved = true}, 128);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  const Attention rotated = with_rope(c, attn, norm);
  const Attention still = without_rope(c, attn);
  Mlp dense = gated_mlp(c);
  dense.inner = c.count("intermediate_size_mlp", 16384);
  Moe experts = moe(c, "intermediate_size");
  experts.routing.score = Routing::Score::sigmoid;
  experts.expert.weigh_input = true;
  experts.shared_inner = experts.inner;
  const int32_t interval = c.count("no_rope_layer_interval", 4);
  const std::vector<bool> rotates =
      layer_flags(c, "no_rope_layers", [&](int32_t i) { return (i + 1) % interval != 0; });
  const std::vector<bool> sparse = sparse_layers(c);
  return decoder(c, norm, false, [&](int32_t i) {
    const auto layer = static_cast<size_t>(i);
    return pre_norm(norm, rotates[layer] ? rotated : still,
                    sparse[layer] ? SubLayer(experts) : SubLayer(dense));
  });
}

std::vector<NameRule> names() {
  const std::string ffn = "model.layers.{}.feed_forward.";
  return {{{"mlp.gate"}, ffn + "gate_proj"},
          {{"mlp.up"}, ffn + "up_proj"},
          {{"mlp.down"}, ffn + "down_proj"},
          {{"moe.router"}, ffn + "router"},
          {{"moe.gate", "moe.up"}, ffn + "experts.gate_up_proj", Layout::transposed},
          {{"moe.down"}, ffn + "experts.down_proj", Layout::transposed},
          {{"moe.shared_gate"}, ffn + "shared_expert.gate_proj"},
          {{"moe.shared_up"}, ffn + "shared_expert.up_proj"},
          {{"moe.shared_down"}, ffn + "shared_expert.down_proj"}};
}

const Register kLlama4({"Llama4ForCausalLM", "llama4_text", describe, names()});

}  // namespace
}  // namespace matador
