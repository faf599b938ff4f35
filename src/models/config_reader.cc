#include "models/config_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace matador {

ConfigReader::ConfigReader(const Config& config) : config_(config) {}

void ConfigReader::alias(std::string_view key, std::string_view name) {
  aliases_.emplace(key, name);
}

int32_t ConfigReader::count(std::string_view key) {
  const std::optional<int64_t> value = config_.integer(named(key));
  if (value && *value > 0 && *value <= std::numeric_limits<int32_t>::max()) {
    return static_cast<int32_t>(*value);
  }
  refuse(key, "a positive integer");
  return 1;
}

int32_t ConfigReader::count(std::string_view key, int32_t otherwise) {
  return has(key) ? count(key) : otherwise;
}

int32_t ConfigReader::index(std::string_view key, int32_t otherwise) {
  if (!has(key)) return otherwise;
  const std::optional<int64_t> value = config_.integer(named(key));
  if (value && *value >= 0 && *value <= std::numeric_limits<int32_t>::max()) {
    return static_cast<int32_t>(*value);
  }
  refuse(key, "an integer from 0 on");
  return otherwise;
}

int32_t ConfigReader::nullable_count(std::string_view key, int32_t otherwise) {
  return is_null(key) ? 0 : count(key, otherwise);
}

float ConfigReader::number(std::string_view key) {
  const std::optional<double> value = config_.number(named(key));
  if (value && std::isfinite(static_cast<float>(*value))) return static_cast<float>(*value);
  refuse(key, "a number");
  return 1;
}

float ConfigReader::number(std::string_view key, float otherwise) {
  return has(key) ? number(key) : otherwise;
}

float ConfigReader::positive(std::string_view key) {
  const float value = number(key);
  if (value > 0) return value;
  refuse(key, "a number above zero");
  return 1;
}

float ConfigReader::positive(std::string_view key, float otherwise) {
  return has(key) ? positive(key) : otherwise;
}

float ConfigReader::nullable_positive(std::string_view key, float otherwise) {
  return is_null(key) ? 0 : positive(key, otherwise);
}

bool ConfigReader::flag(std::string_view key, bool otherwise) {
  if (!has(key)) return otherwise;
  const std::optional<bool> value = config_.boolean(named(key));
  if (!value) refuse(key, "true or false");
  return value.value_or(otherwise);
}

std::string ConfigReader::text(std::string_view key, std::string_view otherwise) {
  if (!has(key)) return std::string(otherwise);
  const std::optional<std::string> value = config_.text(named(key));
  if (!value) refuse(key, "a string");
  return value.value_or(std::string(otherwise));
}

std::optional<std::vector<std::string>> ConfigReader::texts(std::string_view key) {
  std::optional<std::vector<std::string>> value = config_.texts(named(key));
  if (!value && has(key)) refuse(key, "a list of strings");
  return value;
}

std::optional<std::vector<int64_t>> ConfigReader::integers(std::string_view key) {
  std::optional<std::vector<int64_t>> value = config_.integers(named(key));
  if (!value && has(key)) refuse(key, "a list of integers");
  return value;
}

std::optional<std::vector<float>> ConfigReader::numbers(std::string_view key) {
  const std::optional<std::vector<double>> value = config_.numbers(named(key));
  if (value) return std::vector<float>(value->begin(), value->end());
  if (has(key)) refuse(key, "a list of numbers");
  return std::nullopt;
}

void ConfigReader::refuse(std::string_view key, std::string_view expected) {
  std::string found = config_.dump(named(key));
  if (found.size() > 80) found = found.substr(0, 80) + "...";
  std::string problem = std::string(named(key)) + " is " + (found.empty() ? "missing" : found) +
                        ", expected " + std::string(expected);
  // A description may read a key once a layer.
  if (std::find(problems_.begin(), problems_.end(), problem) == problems_.end()) {
    problems_.push_back(std::move(problem));
  }
}

Status ConfigReader::status() const {
  if (problems_.empty()) return {};
  std::string message = config_.source();
  std::string_view separator = ": ";
  for (const std::string& problem : problems_) {
    message.append(separator).append(problem);
    separator = "; ";
  }
  return invalid_argument(std::move(message));
}

std::string_view ConfigReader::named(std::string_view key) const {
  if (config_.has(key)) return key;
  const auto [first, last] = aliases_.equal_range(key);
  if (first == last) return key;
  const auto found =
      std::find_if(first, last, [&](const auto& alias) { return config_.has(alias.second); });
  return found == last ? first->second : found->second;
}

bool ConfigReader::is_null(std::string_view key) const {
  if (has(key)) return false;
  const std::vector<std::string> keys = config_.keys();
  return std::find(keys.begin(), keys.end(), named(key)) != keys.end();
}

}  // namespace matador
