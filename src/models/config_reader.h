// ConfigReader: reads a model's config for a description. Problems are collected, not returned
// one by one, so that a description reads like the model and a user sees everything at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/result.h"

namespace matador {

class ConfigReader {
 public:
  explicit ConfigReader(const Config& config);

  // The config may have `key` under this name; problems are told under the name that it has.
  void alias(std::string_view key, std::string_view name);
  // What the model's own code has where the config is silent, for keys that are read elsewhere.
  template <class T>
  void fallback(std::string_view key, T value) {
    if (!has(key)) config_.set(key, value);
  }

  // A positive integer; required where there is no default. A problem reads as 1.
  int32_t count(std::string_view key);
  int32_t count(std::string_view key, int32_t otherwise);
  // A number from 0 on.
  int32_t index(std::string_view key, int32_t otherwise);
  // As HF's optional fields: an absent key means `otherwise`, an explicit null means 0 (none).
  int32_t nullable_count(std::string_view key, int32_t otherwise);
  float number(std::string_view key);
  float number(std::string_view key, float otherwise);
  // Above zero.
  float positive(std::string_view key);
  float positive(std::string_view key, float otherwise);
  float nullable_positive(std::string_view key, float otherwise);
  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key, std::string_view otherwise);
  // Nothing where the key is absent or null.
  std::optional<std::vector<std::string>> texts(std::string_view key);
  std::optional<std::vector<int64_t>> integers(std::string_view key);
  std::optional<std::vector<float>> numbers(std::string_view key);

  bool has(std::string_view key) const { return config_.has(named(key)); }
  // Records that `key` has a value that this build cannot honour, with what it can.
  void refuse(std::string_view key, std::string_view expected);

  // All problems, or ok.
  Status status() const;
  const Config& config() const { return config_; }

 private:
  // The name that the config has for `key`.
  std::string_view named(std::string_view key) const;
  bool is_null(std::string_view key) const;

  Config config_;
  std::multimap<std::string, std::string, std::less<>> aliases_;
  std::vector<std::string> problems_;
};

}  // namespace matador
