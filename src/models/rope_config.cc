#include "models/rope_config.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace matador {
namespace {

// The config's keys for one rotary embedding.
class RopeReader {
 public:
  RopeReader(ConfigReader& c, const RopeKeys& keys) : c_(c), keys_(keys) {}

  Rope read(int32_t head_dim) {
    Rope rope;
    rope.theta = c_.has(at("rope_theta")) ? c_.positive(at("rope_theta"))
                                          : c_.positive(keys_.theta, keys_.default_theta);
    rope.interleaved = c_.flag("rope_interleaved", keys_.interleaved);
    rope.dim = rotated(head_dim);
    rope.freq_factors = factors("rope_freq_factors", rope.dim);
    const std::string type_key = c_.has(at("rope_type")) ? at("rope_type") : at("type");
    read_scaling(c_.text(type_key, "default"), type_key, rope);
    return rope;
  }

 private:
  std::string at(std::string_view name) const { return keys_.parameters + "." + std::string(name); }

  int32_t rotated(int32_t head_dim) {
    const std::string key =
        c_.has(at("partial_rotary_factor")) ? at("partial_rotary_factor") : "partial_rotary_factor";
    const float part = c_.positive(key, keys_.default_partial);
    // GGUF has the features themselves, of which the division may have lost a trace.
    const int32_t dim =
        part <= 1 ? static_cast<int32_t>(part * static_cast<float>(head_dim) + 1e-3F) : 0;
    if (dim > 0 && dim % 2 == 0) return dim;
    c_.refuse(key, "a part of head_dim " + std::to_string(head_dim) + " that is even");
    return 2;
  }

  std::vector<float> factors(const std::string& key, int32_t dim) {
    std::vector<float> values = c_.numbers(key).value_or(std::vector<float>());
    const bool positive = std::all_of(values.begin(), values.end(), [](float x) { return x > 0; });
    if (values.empty() || (positive && values.size() == static_cast<size_t>(dim / 2)))
      return values;
    c_.refuse(key, std::to_string(dim / 2) + " positive numbers, one for each rotated pair");
    return {};
  }

  void read_scaling(const std::string& type, const std::string& type_key, Rope& rope) {
    if (type == "default") return;
    if (type == "linear") {
      rope.scaling = Rope::Scaling::linear;
      rope.factor = c_.positive(at("factor"));
    } else if (type == "dynamic") {
      rope.scaling = Rope::Scaling::dynamic;
      rope.factor = c_.positive(at("factor"));
      rope.original_max_position = c_.count("max_position_embeddings");
      if (rope.dim <= 2) c_.refuse("head_dim", "more than 2 rotated features for dynamic scaling");
    } else if (type == "llama3") {
      read_llama3(rope);
    } else if (type == "longrope" || type == "su" || is_early_longrope(type)) {
      read_longrope(rope);
    } else if (type == "yarn") {
      read_yarn(rope);
    } else {
      c_.refuse(type_key, "default, linear, dynamic, yarn, llama3 or longrope");
    }
  }

  // Phi-3's first configs call longrope "yarn".
  bool is_early_longrope(const std::string& type) const {
    return type == "yarn" && c_.has(at("short_factor"));
  }

  void read_llama3(Rope& rope) {
    rope.scaling = Rope::Scaling::llama3;
    rope.factor = c_.positive(at("factor"));
    rope.low_freq_factor = c_.positive(at("low_freq_factor"));
    rope.high_freq_factor = c_.positive(at("high_freq_factor"));
    rope.original_max_position = original_max_position();
    if (rope.high_freq_factor <= rope.low_freq_factor) {
      c_.refuse(at("high_freq_factor"), "more than low_freq_factor");
    }
  }

  void read_yarn(Rope& rope) {
    rope.scaling = Rope::Scaling::yarn;
    rope.original_max_position = original_max_position();
    rope.factor = c_.positive(at("factor"), extension(rope));
    rope.beta_fast = c_.positive(at("beta_fast"), rope.beta_fast);
    rope.beta_slow = c_.positive(at("beta_slow"), rope.beta_slow);
    rope.truncate = c_.flag(at("truncate"), true);
    const float mscale = c_.number(at("mscale"), 0);
    const float mscale_all_dim = c_.number(at("mscale_all_dim"), 0);
    auto magnitude = [&](float weight) {
      return rope.factor <= 1 ? 1 : 0.1F * weight * std::log(rope.factor) + 1;
    };
    const float otherwise = mscale != 0 && mscale_all_dim != 0
                                ? magnitude(mscale) / magnitude(mscale_all_dim)
                                : magnitude(1);
    rope.attention_factor = c_.number(at("attention_factor"), otherwise);
  }

  void read_longrope(Rope& rope) {
    rope.scaling = Rope::Scaling::longrope;
    rope.original_max_position = original_max_position();
    rope.factor = c_.positive(at("factor"), extension(rope));
    rope.short_factor = factors(at("short_factor"), rope.dim);
    rope.long_factor = factors(at("long_factor"), rope.dim);
    if (rope.short_factor.empty()) c_.refuse(at("short_factor"), "a list of numbers");
    if (rope.long_factor.empty()) c_.refuse(at("long_factor"), "a list of numbers");
    const float original = static_cast<float>(rope.original_max_position);
    const float otherwise =
        rope.factor <= 1 ? 1 : std::sqrt(1 + std::log(rope.factor) / std::log(original));
    rope.attention_factor = c_.number(at("attention_factor"), otherwise);
  }

  // How many times the context was extended, where the config does not say.
  float extension(const Rope& rope) {
    return static_cast<float>(c_.count("max_position_embeddings")) /
           static_cast<float>(rope.original_max_position);
  }

  // transformers lets the top-level key go before the object's.
  int32_t original_max_position() {
    constexpr std::string_view kKey = "original_max_position_embeddings";
    if (c_.has(kKey)) return c_.count(kKey);
    if (keys_.default_original_max_position > 0) return keys_.default_original_max_position;
    if (c_.has(at(kKey))) return c_.count(at(kKey));
    return c_.count("max_position_embeddings");
  }

  ConfigReader& c_;
  RopeKeys keys_;
};

}  // namespace

Rope read_rope(ConfigReader& c, int32_t head_dim, const RopeKeys& keys) {
  RopeKeys chosen = keys;
  if (chosen.parameters.empty()) {
    chosen.parameters = c.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
  }
  return RopeReader(c, chosen).read(head_dim);
}

int32_t extended_context(const Rope& rope, int32_t stated) {
  using Scaling = Rope::Scaling;
  const bool stretches = rope.scaling == Scaling::linear || rope.scaling == Scaling::dynamic;
  if (!stretches && rope.scaling != Scaling::yarn) return stated;
  const double trained = stretches ? stated : rope.original_max_position;
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  return std::max(stated, static_cast<int32_t>(std::min(trained * rope.factor, kMost)));
}

}  // namespace matador
