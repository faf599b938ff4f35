#include "models/describe.h"

#include <algorithm>
#include <cmath>

namespace matador {
namespace {

// Far more than any model has; keeps a lying config from asking for terabytes of layers.
constexpr int32_t kMaxLayers = 4096;

int32_t longest_context(const std::vector<Layer>& layers, int32_t stated) {
  int32_t longest = stated;
  for (const Layer& layer : layers) {
    for (const Residual& residual : layer) {
      for (const Path& path : residual.paths) {
        const auto* attention = std::get_if<Attention>(&path.op);
        if (attention) longest = std::max(longest, extended_context(attention->rope, stated));
      }
    }
  }
  return longest;
}

}  // namespace

int32_t num_layers(ConfigReader& c) {
  const int32_t layers = c.count("num_hidden_layers");
  if (layers <= kMaxLayers) return layers;
  c.refuse("num_hidden_layers", "at most " + std::to_string(kMaxLayers));
  return 1;
}

Norm rms_norm(ConfigReader& c) {
  return {.kind = Norm::Kind::rms, .eps = c.positive("rms_norm_eps", 1e-6F)};
}

Norm layer_norm(ConfigReader& c, std::string_view key) {
  c.alias("layer_norm_eps", key);
  return {.kind = Norm::Kind::layer, .eps = c.positive("layer_norm_eps", 1e-5F), .has_bias = true};
}

Norm gemma_norm(ConfigReader& c) {
  Norm norm = rms_norm(c);
  norm.weight_offset = c.flag("norm_weights_include_offset", false) ? 0 : 1;
  return norm;
}

Act read_act(ConfigReader& c, std::string_view key, std::string_view otherwise) {
  const std::string name = c.text(key, otherwise);
  if (name == "silu" || name == "swish") return Act::silu;
  if (name == "gelu" || name == "gelu_python") return Act::gelu;
  for (std::string_view tanh : {"gelu_pytorch_tanh", "gelu_new", "gelu_fast", "gelu_accurate"}) {
    if (name == tanh) return Act::gelu_tanh;
  }
  if (name == "relu") return Act::relu;
  if (name == "quick_gelu") return Act::quick_gelu;
  if (name == "relu2") return Act::relu_squared;
  c.refuse(key, "silu, gelu, gelu_pytorch_tanh, relu, relu2 or quick_gelu");
  return Act::silu;
}

Attention attention(ConfigReader& c, const RopeKeys& rope, int32_t default_head_dim) {
  Attention result = unrotated_attention(c, default_head_dim);
  result.rope = read_rope(c, result.attend.head_dim, rope);
  return result;
}

Attention unrotated_attention(ConfigReader& c, int32_t default_head_dim) {
  Attention result;
  result.hidden = c.count("hidden_size");
  Attend& attend = result.attend;
  attend.num_heads = c.count("num_attention_heads");
  attend.num_kv_heads = c.count("num_key_value_heads", attend.num_heads);
  if (attend.num_heads % attend.num_kv_heads != 0) {
    c.refuse("num_key_value_heads", "a divisor of num_attention_heads");
  }
  if (default_head_dim == 0) {
    default_head_dim = std::max(1, c.count("hidden_size") / attend.num_heads);
  }
  attend.head_dim = c.count("head_dim", default_head_dim);
  attend.scale = 1 / std::sqrt(static_cast<float>(attend.head_dim));
  return result;
}

int32_t rotated_features(ConfigReader& c, const Attention& attention, std::string_view key,
                         int32_t otherwise) {
  const int32_t dim = c.count(key, otherwise);
  if (dim % 2 == 0 && dim <= attention.attend.head_dim) return dim;
  c.refuse(key, "an even number up to head_dim " + std::to_string(attention.attend.head_dim));
  return 2;
}

void gpt2_keys(ConfigReader& c) {
  c.alias("hidden_size", "n_embd");
  c.alias("num_attention_heads", "n_head");
  c.alias("num_hidden_layers", "n_layer");
  c.alias("max_position_embeddings", "n_positions");
  c.alias("intermediate_size", "n_inner");
  c.alias("hidden_act", "activation_function");
  c.fallback("intermediate_size", 4 * int64_t{c.count("hidden_size")});
}

Norm per_head(Norm norm, const Attention& attention) {
  norm.group = attention.attend.head_dim;
  return norm;
}

Mlp gated_mlp(ConfigReader& c) {
  return {.hidden = c.count("hidden_size"),
          .inner = c.count("intermediate_size"),
          .act = read_act(c, "hidden_act", "silu")};
}

Mlp plain_mlp(ConfigReader& c, std::string_view default_act) {
  return {.hidden = c.count("hidden_size"),
          .inner = c.count("intermediate_size"),
          .act = read_act(c, "hidden_act", default_act),
          .gated = false,
          .bias = true};
}

Layer pre_norm(const Norm& norm, const SubLayer& attention, const SubLayer& ffn) {
  const std::string_view name = std::holds_alternative<Moe>(ffn) ? "moe" : "mlp";
  return {{.paths = {{.name = "attn", .in = norm, .op = attention}}},
          {.paths = {{.name = name, .in = norm, .op = ffn}}}};
}

Layer parallel(const Norm& norm, const Attention& attention, const Mlp& mlp) {
  return {{.in = norm, .paths = {{.name = "attn", .op = attention}, {.name = "mlp", .op = mlp}}}};
}

Layer parallel_two_norms(const Norm& norm, const Attention& attention, const Mlp& mlp) {
  return {{.paths = {{.name = "attn", .in = norm, .op = attention},
                     {.name = "mlp", .in = norm, .op = mlp}}}};
}

Layer sandwich(const Norm& norm, const Attention& attention, const Mlp& mlp) {
  return {{.paths = {{.name = "attn", .in = norm, .op = attention, .out = norm}}},
          {.paths = {{.name = "mlp", .in = norm, .op = mlp, .out = norm}}}};
}

std::vector<NameRule> sandwich_names() {
  return {{{"attn.out_norm"}, "model.layers.{}.post_attention_layernorm"},
          {{"mlp.in_norm"}, "model.layers.{}.pre_feedforward_layernorm"},
          {{"mlp.out_norm"}, "model.layers.{}.post_feedforward_layernorm"}};
}

Layer output_norm(const Norm& norm, const Attention& attention, const Mlp& mlp) {
  return {{.paths = {{.name = "attn", .op = attention, .out = norm}}},
          {.paths = {{.name = "mlp", .op = mlp, .out = norm}}}};
}

std::vector<NameRule> output_norm_names() {
  return {{{"attn.out_norm"}, "model.layers.{}.post_attention_layernorm"},
          {{"mlp.out_norm"}, "model.layers.{}.post_feedforward_layernorm"}};
}

std::vector<bool> sliding_layers(ConfigReader& c, const std::function<bool(int32_t)>& otherwise) {
  const int32_t layers = num_layers(c);
  std::vector<bool> sliding;
  const auto types = c.texts("layer_types");
  if (!types) {
    for (int32_t i = 0; i < layers; ++i) sliding.push_back(otherwise(i));
    return sliding;
  }
  for (const std::string& type : *types) {
    if (type != "sliding_attention" && type != "full_attention") {
      c.refuse("layer_types", "only sliding_attention and full_attention");
    }
    sliding.push_back(type == "sliding_attention");
  }
  if (types->size() != static_cast<size_t>(layers)) {
    c.refuse("layer_types", "one type for each of num_hidden_layers");
  }
  sliding.resize(static_cast<size_t>(layers));
  return sliding;
}

std::vector<int32_t> qwen_windows(ConfigReader& c) {
  const int32_t first = c.index("max_window_layers", 28);
  const bool used = c.flag("use_sliding_window", false);
  const int32_t window = used ? c.nullable_count("sliding_window", 4096) : 0;
  std::vector<int32_t> windows;
  for (bool slides : sliding_layers(c, [&](int32_t i) { return i >= first; })) {
    windows.push_back(slides ? window : 0);
  }
  return windows;
}

void refuse_bidirectional(ConfigReader& c) {
  constexpr std::string_view kKey = "use_bidirectional_attention";
  if (c.flag(kKey, false)) c.refuse(kKey, "false");
}

DecoderSpec decoder(ConfigReader& c, const Norm& final_norm, bool tied,
                    const std::function<Layer(int32_t)>& layer) {
  DecoderSpec spec;
  spec.vocab_size = c.count("vocab_size");
  spec.hidden_size = c.count("hidden_size");
  spec.final_norm = final_norm;
  spec.tied_head = c.flag("tie_word_embeddings", tied);
  if (c.has("quantization_config")) {
    c.refuse("quantization_config", "no quantised checkpoint other than GGUF");
  }
  spec.draft_layers = std::min(c.index("num_nextn_predict_layers", 0), kMaxLayers);
  const int32_t layers = num_layers(c);
  for (int32_t i = 0; i < layers; ++i) spec.layers.push_back(layer(i));
  spec.max_position = longest_context(spec.layers, c.count("max_position_embeddings"));
  return spec;
}

}  // namespace matador
