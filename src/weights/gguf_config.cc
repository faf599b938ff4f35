#include "weights/gguf_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weights/gguf_architectures.h"
#include "weights/tensor_list.h"

namespace matador {
namespace {

// A metadata key, without its architecture, and the config key for the same value.
struct KeyPair {
  std::string_view gguf;
  std::string_view config;
};

constexpr std::array<KeyPair, 13> kIntegers = {{
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"feed_forward_length", "intermediate_size"},
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"context_length", "max_position_embeddings"},
    {"attention.sliding_window", "sliding_window"},
    {"vocab_size", "vocab_size"},
    {"rope.scaling.original_context_length", "original_max_position_embeddings"},
}};

constexpr std::array<KeyPair, 6> kNumbers = {{
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"attention.layer_norm_epsilon", "layer_norm_eps"},
    {"rope.freq_base", "rope_theta"},
    {"rope.freq_base_swa", "rope_local_base_freq"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
}};

constexpr std::array<KeyPair, 3> kSpecialTokens = {{
    {"tokenizer.ggml.bos_token_id", "bos_token_id"},
    {"tokenizer.ggml.eos_token_id", "eos_token_id"},
    {"tokenizer.ggml.padding_token_id", "pad_token_id"},
}};

constexpr std::array<KeyPair, 5> kSampling = {{
    {"general.sampling.temp", "temperature"},
    {"general.sampling.top_k", "top_k"},
    {"general.sampling.top_p", "top_p"},
    {"general.sampling.min_p", "min_p"},
    {"general.sampling.penalty_repeat", "repetition_penalty"},
}};

class Translator {
 public:
  Translator(const GgufFile& file, std::string architecture)
      : file_(file),
        architecture_(std::move(architecture)),
        rule_(find_gguf_architecture(architecture_)),
        config_(Config::parse(rule_.constants, file.source()).value()) {}

  Config run() {
    set_names();
    set_values();
    set_own_values();
    set_vocabulary();
    set_attention();
    set_layer_types();
    set_rope();
    return std::move(config_);
  }

 private:
  std::string key(std::string_view name) const { return architecture_ + '.' + std::string(name); }

  const StoredTensor* tensor(std::string_view name) const {
    return find_by_name(file_.tensors(), name);
  }

  // At most kMaxValues, far beyond any head: a lying file shall not fill the memory.
  std::vector<double> values_of(const StoredTensor& stored) const {
    constexpr int64_t kMaxValues = 1 << 16;
    const int64_t all = static_cast<int64_t>(stored.bytes) / stored.format->block_bytes *
                        stored.format->block_values;
    const int64_t count = std::min(all, kMaxValues);
    std::vector<float> values(static_cast<size_t>(count));
    stored.format->decode(stored.data, values.data(), count);
    return {values.begin(), values.end()};
  }

  void set_names() {
    config_.set("model_type",
                std::string(rule_.model_type.empty() ? architecture_ : rule_.model_type));
    if (rule_.architecture.empty()) return;
    config_.set("architectures", std::vector<std::string>{std::string(rule_.architecture)});
    if (rule_.norms_include_offset) config_.set("norm_weights_include_offset", true);
  }

  // Zero stands for "none" in GGUF; some keys hold a value for each layer.
  void set_values() {
    for (const KeyPair& pair : kIntegers) {
      if (const auto value = file_.integer(key(pair.gguf)); value && *value != 0) {
        config_.set(pair.config, *value);
      } else if (const auto list = file_.integers(key(pair.gguf)); list && !list->empty()) {
        const bool same = std::equal(list->begin() + 1, list->end(), list->begin());
        if (same) {
          config_.set(pair.config, list->front());
        } else {
          config_.set(pair.config, *list);
        }
      }
    }
    for (const KeyPair& pair : kNumbers) {
      if (const auto value = file_.number(key(pair.gguf))) config_.set(pair.config, *value);
    }
    for (const KeyPair& pair : kSpecialTokens) {
      if (const auto value = file_.integer(pair.gguf)) config_.set(pair.config, *value);
    }
  }

  void set_own_values() {
    for (const GgufOwnKey& own : gguf_own_keys()) {
      if (own.architecture != architecture_) continue;
      if (const auto flag = file_.boolean(key(own.gguf))) {
        config_.set(own.config, *flag);
      } else if (const auto number = file_.number(key(own.gguf)); number && *number != 0) {
        config_.set(own.config, *number);
      }
    }
    for (const GgufTensorFlag& flag : gguf_tensor_flags()) {
      if (flag.architecture != architecture_) continue;
      config_.set(flag.config, (tensor(flag.tensor) != nullptr) == flag.if_present);
    }
  }

  void set_vocabulary() {
    const StoredTensor* embedding = tensor("token_embd.weight");
    if (embedding != nullptr && embedding->shape.size() == 2) {
      config_.set("vocab_size", embedding->shape.front());
    }
    config_.set("tie_word_embeddings", tensor("output.weight") == nullptr);
  }

  void set_attention() {
    if (tensor("blk.0.attn_q.bias") != nullptr) config_.set("attention_bias", true);
    if (tensor("blk.0.ffn_up.bias") != nullptr) config_.set("mlp_bias", true);
    const int64_t layers = config_.integer("num_hidden_layers").value_or(0);
    const int64_t hidden = config_.integer("hidden_size").value_or(0);
    const int64_t heads = config_.integer("num_attention_heads").value_or(0);
    if (heads <= 0) return;
    if (!config_.has("head_dim")) config_.set("head_dim", hidden / heads);
    if (rule_.layers_scaled_by_width == 0) return;
    const bool by_width = layers == rule_.layers_scaled_by_width;
    config_.set("query_pre_attn_scalar",
                by_width ? hidden / heads : config_.integer("head_dim").value_or(0));
  }

  // The pattern is either its period, of which the last layer attends to everything, or a flag
  // for each layer.
  void set_layer_types() {
    const int64_t layers = config_.integer("num_hidden_layers").value_or(0);
    constexpr int64_t kMaxLayers = 4096;
    if (layers <= 0 || layers > kMaxLayers) return;
    const auto flags = file_.booleans(key("attention.sliding_window_pattern"));
    const auto period = file_.integer(key("attention.sliding_window_pattern"));
    const bool none = rule_.gguf == "gemma3" && !config_.has("sliding_window");
    if (!flags && !period && !none) return;
    std::vector<std::string> types;
    for (int64_t i = 0; i < layers; ++i) {
      bool slides = false;
      if (flags) {
        slides = static_cast<size_t>(i) < flags->size() && (*flags)[static_cast<size_t>(i)];
      } else if (period && !none) {
        slides = *period <= 0 || i % *period < *period - 1;
      }
      types.emplace_back(slides ? "sliding_attention" : "full_attention");
    }
    config_.set("layer_types", types);
  }

  void set_rope() {
    if (rule_.rope_interleaved) config_.set("rope_interleaved", true);
    if (!config_.has("rope_theta")) config_.set("rope_theta", 10000.0);
    const int64_t head_dim = config_.integer("head_dim").value_or(0);
    const auto rotated = file_.integer(key("rope.dimension_count"));
    if (rotated && head_dim > 0) {
      config_.set("partial_rotary_factor",
                  static_cast<double>(*rotated) / static_cast<double>(head_dim));
    }
    if (const StoredTensor* factors = tensor("rope_freqs.weight")) {
      config_.set("rope_freq_factors", values_of(*factors));
    }
    if (const std::optional<Config> scaling = rope_scaling()) {
      config_.set("rope_scaling", *scaling);
    }
  }

  std::optional<Config> rope_scaling() const {
    const StoredTensor* long_factors = tensor("rope_factors_long.weight");
    const StoredTensor* short_factors = tensor("rope_factors_short.weight");
    if (long_factors != nullptr && short_factors != nullptr) {
      return longrope(*long_factors, *short_factors);
    }
    const double factor = file_.number(key("rope.scaling.factor"))
                              .value_or(file_.number(key("rope.scale_linear")).value_or(0));
    const std::string type = file_.text(key("rope.scaling.type")).value_or("linear");
    if (factor == 0 || type == "none") return std::nullopt;
    Config scaling;
    scaling.set("rope_type", type);
    scaling.set("factor", factor);
    if (type == "yarn") set_yarn(scaling, factor);
    return scaling;
  }

  Config longrope(const StoredTensor& long_factors, const StoredTensor& short_factors) const {
    Config scaling;
    scaling.set("rope_type", "longrope");
    scaling.set("long_factor", values_of(long_factors));
    scaling.set("short_factor", values_of(short_factors));
    if (const auto magnitude = file_.number(key("rope.scaling.attn_factor"))) {
      scaling.set("attention_factor", *magnitude);
    }
    return scaling;
  }

  // rope.scaling.attn_factor multiplies YaRN's own magnitude; yarn_attn_factor replaces it.
  void set_yarn(Config& scaling, double factor) const {
    constexpr std::array<KeyPair, 3> kYarn = {
        {{"rope.scaling.yarn_beta_fast", "beta_fast"},
         {"rope.scaling.yarn_beta_slow", "beta_slow"},
         {"rope.scaling.yarn_attn_factor", "attention_factor"}}};
    if (const auto multiplier = file_.number(key("rope.scaling.attn_factor"))) {
      const double magnitude = factor <= 1 ? 1 : 0.1 * std::log(factor) + 1;
      scaling.set("attention_factor", *multiplier * magnitude);
    }
    for (const KeyPair& pair : kYarn) {
      if (const auto value = file_.number(key(pair.gguf))) scaling.set(pair.config, *value);
    }
  }

  const GgufFile& file_;
  std::string architecture_;
  GgufArchitecture rule_;
  Config config_;
};

}  // namespace

Result<Config> gguf_config(const GgufFile& file) {
  const std::optional<std::string> architecture = file.text("general.architecture");
  if (!architecture) {
    return invalid_argument(file.source() +
                            ": metadata key general.architecture is missing or not a string");
  }
  return Translator(file, *architecture).run();
}

Config gguf_generation_config(const GgufFile& file) {
  Config config;
  for (const KeyPair& pair : kSampling) {
    if (const auto integer = file.integer(pair.gguf)) {
      config.set(pair.config, *integer);
    } else if (const auto number = file.number(pair.gguf)) {
      config.set(pair.config, *number);
    }
  }
  return config;
}

}  // namespace matador
