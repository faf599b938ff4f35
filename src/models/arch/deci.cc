// DeciLM (kv heads by layer) and Nemotron-NAS (arXiv 2411.19146): Llama whose layers were found by
// a search, each with kv heads and a width of its own, or without one of its sub-layers.
#include <algorithm>

#include "models/describe.h"
#include "models/registry.h"

namespace matador {
namespace {

// A config's list with a number for each layer.
std::vector<int64_t> per_layer(ConfigReader& c, std::string_view key) {
  const auto layers = static_cast<size_t>(num_layers(c));
  std::vector<int64_t> values = c.integers(key).value_or(std::vector<int64_t>());
  const bool positive = std::ranges::all_of(values, [](int64_t x) { return x > 0; });
  if (values.size() != layers || !positive) {
    c.refuse(key, "a positive integer for each of num_hidden_layers");
    values.assign(layers, 1);
  }
  return values;
}

Attention with_kv_heads(ConfigReader& c, Attention attn, std::string_view key, int64_t kv_heads) {
  attn.attend.num_kv_heads = static_cast<int32_t>(kv_heads);
  const int32_t heads = attn.attend.num_heads;
  if (kv_heads < 1 || kv_heads > heads || heads % kv_heads != 0) {
    c.refuse(key, "divisors of num_attention_heads");
    attn.attend.num_kv_heads = heads;
  }
  return attn;
}

// As the published code rounds: up to the next multiple of 256.
int64_t width_of(float multiplier, int64_t hidden) {
  const auto width = static_cast<int64_t>(2 * multiplier * static_cast<float>(hidden) / 3);
  return (width + 255) / 256 * 256;
}

// Whether this part of a block is there at all.
bool is_present(ConfigReader& c, const std::string& part) {
  const std::string linear = part + ".replace_with_linear";
  if (c.flag(linear, false)) c.refuse(linear, "false");
  return !c.flag(part + ".no_op", false);
}

Layer searched_layer(ConfigReader& c, const Norm& norm, Attention attn, Mlp mlp, int32_t index) {
  const std::string block = "block_configs." + std::to_string(index);
  Layer layer;
  if (is_present(c, block + ".attention")) {
    const std::string key = block + ".attention.n_heads_in_group";
    const int32_t group = c.count(key);
    const int32_t heads = attn.attend.num_heads;
    attn = with_kv_heads(c, attn, key, heads % group == 0 ? heads / group : 0);
    layer.push_back({.paths = {{.name = "attn", .in = norm, .op = attn}}});
  }
  if (is_present(c, block + ".ffn")) {
    mlp.inner = width_of(c.positive(block + ".ffn.ffn_mult"), mlp.hidden);
    layer.push_back({.paths = {{.name = "mlp", .in = norm, .op = mlp}}});
  }
  return layer;
}

DecoderSpec describe(ConfigReader& c) {
  const Norm norm = rms_norm(c);
  Attention attn = attention(c);
  attn.qkv_bias = attn.out_bias = c.flag("attention_bias", false);
  const bool searched = c.has("block_configs");
  if (searched) c.fallback("intermediate_size", int64_t{1});
  Mlp mlp = gated_mlp(c);
  mlp.bias = c.flag("mlp_bias", false);
  if (searched) {
    return decoder(c, norm, false,
                   [&](int32_t i) { return searched_layer(c, norm, attn, mlp, i); });
  }
  constexpr std::string_view kKey = "num_key_value_heads_per_layer";
  const std::vector<int64_t> kv_heads = per_layer(c, kKey);
  return decoder(c, norm, false, [&](int32_t i) {
    return pre_norm(norm, with_kv_heads(c, attn, kKey, kv_heads[static_cast<size_t>(i)]), mlp);
  });
}

const Register kDeci({"DeciLMForCausalLM", "deci", describe});
const Register kNemotronNas({"DeciLMForCausalLM", "nemotron-nas", describe});

}  // namespace
}  // namespace matador
