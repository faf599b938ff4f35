// Config: read access to a JSON object (config.json, generation_config.json, or the same keys
// translated from GGUF metadata). Keeps the JSON library out of headers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace matador {

class Config {
 public:
  Config();  // an empty object
  // Parses a JSON object. `source` names it in errors. Depth and size are bounded.
  static Result<Config> parse(std::string_view json, std::string source);
  static Result<Config> read(const std::string& path);

  // A key may be a path: "rope_scaling.factor", "block_configs.0.ffn". Null counts as absent.
  bool has(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::vector<double>> numbers(std::string_view key) const;
  std::optional<std::vector<int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;
  std::optional<Config> object(std::string_view key) const;
  std::vector<std::string> keys() const;

  // Sets a top-level key (used to translate GGUF metadata).
  void set(std::string_view key, int64_t value);
  void set(std::string_view key, double value);
  void set(std::string_view key, bool value);
  void set(std::string_view key, const std::string& value);
  void set(std::string_view key, const char* value) { set(key, std::string(value)); }
  void set(std::string_view key, const std::vector<double>& value);
  void set(std::string_view key, const std::vector<int64_t>& value);
  void set(std::string_view key, const std::vector<std::string>& value);
  void set(std::string_view key, const Config& value);

  // The value as JSON text, "" when absent.
  std::string dump(std::string_view key) const;
  std::string dump() const;
  const std::string& source() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // copied on write
};

}  // namespace matador
