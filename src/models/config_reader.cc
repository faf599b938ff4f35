#include "models/config_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace matador {

ConfigReader::ConfigReader(const Config& config) : config_(config) {}

int32_t ConfigReader::count(std::string_view key) {
  const std::optional<int64_t> value = config_.integer(key);
  if (value && *value > 0 && *value <= std::numeric_limits<int32_t>::max()) {
    return static_cast<int32_t>(*value);
  }
  refuse(key, "a positive integer");
  return 1;
}

int32_t ConfigReader::count(std::string_view key, int32_t otherwise) {
  return config_.has(key) ? count(key) : otherwise;
}

int32_t ConfigReader::index(std::string_view key, int32_t otherwise) {
  if (!config_.has(key)) return otherwise;
  const std::optional<int64_t> value = config_.integer(key);
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
  const std::optional<double> value = config_.number(key);
  if (value && std::isfinite(static_cast<float>(*value))) return static_cast<float>(*value);
  refuse(key, "a number");
  return 1;
}

float ConfigReader::number(std::string_view key, float otherwise) {
  return config_.has(key) ? number(key) : otherwise;
}

float ConfigReader::positive(std::string_view key) {
  const float value = number(key);
  if (value > 0) return value;
  refuse(key, "a number above zero");
  return 1;
}

float ConfigReader::positive(std::string_view key, float otherwise) {
  return config_.has(key) ? positive(key) : otherwise;
}

float ConfigReader::nullable_positive(std::string_view key, float otherwise) {
  return is_null(key) ? 0 : positive(key, otherwise);
}

bool ConfigReader::flag(std::string_view key, bool otherwise) {
  if (!config_.has(key)) return otherwise;
  const std::optional<bool> value = config_.boolean(key);
  if (!value) refuse(key, "true or false");
  return value.value_or(otherwise);
}

std::string ConfigReader::text(std::string_view key, std::string_view otherwise) {
  if (!config_.has(key)) return std::string(otherwise);
  const std::optional<std::string> value = config_.text(key);
  if (!value) refuse(key, "a string");
  return value.value_or(std::string(otherwise));
}

std::optional<std::vector<std::string>> ConfigReader::texts(std::string_view key) {
  std::optional<std::vector<std::string>> value = config_.texts(key);
  if (!value && config_.has(key)) refuse(key, "a list of strings");
  return value;
}

std::optional<std::vector<int64_t>> ConfigReader::integers(std::string_view key) {
  std::optional<std::vector<int64_t>> value = config_.integers(key);
  if (!value && config_.has(key)) refuse(key, "a list of integers");
  return value;
}

std::optional<std::vector<float>> ConfigReader::numbers(std::string_view key) {
  const std::optional<std::vector<double>> value = config_.numbers(key);
  if (value) return std::vector<float>(value->begin(), value->end());
  if (config_.has(key)) refuse(key, "a list of numbers");
  return std::nullopt;
}

void ConfigReader::refuse(std::string_view key, std::string_view expected) {
  std::string found = config_.dump(key);
  if (found.size() > 80) found = found.substr(0, 80) + "...";
  std::string problem = std::string(key) + " is " + (found.empty() ? "missing" : found) +
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

bool ConfigReader::is_null(std::string_view key) const {
  if (config_.has(key)) return false;
  const std::vector<std::string> keys = config_.keys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace matador
