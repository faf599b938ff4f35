#include "api/field_reader.h"

#include <cmath>
#include <limits>

namespace matador {
namespace {

// Whole numbers written as 2 or 2.0; nothing outside int64.
std::optional<int64_t> whole(const Json& value) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (value.is_number_unsigned()) {
    auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(kMax)) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  auto number = value.get<double>();
  if (number != std::floor(number) || std::abs(number) >= 0x1p63) return std::nullopt;
  return static_cast<int64_t>(number);
}

std::string shown(double number) {
  return number == std::floor(number) && std::abs(number) < 1e15
             ? std::to_string(static_cast<int64_t>(number))
             : dump_json(number);
}

std::string range_text(int64_t low, int64_t high) {
  if (high >= std::numeric_limits<int32_t>::max()) return "of at least " + std::to_string(low);
  return "from " + std::to_string(low) + " to " + std::to_string(high);
}

}  // namespace

FieldReader::FieldReader(const Json& object, std::string path)
    : object_(object), path_(std::move(path)) {}

std::string FieldReader::path_of(std::string_view name) const {
  if (path_.empty()) return std::string(name);
  return path_ + "." + std::string(name);
}

void FieldReader::fail(ApiError error) {
  if (!error_) error_ = std::move(error);
}

void FieldReader::fail(std::string_view name, const std::string& what, std::string code) {
  fail(field_error(path_of(name), what, std::move(code)));
}

void FieldReader::wrong(std::string_view name, const std::string& expected, const Json& found) {
  fail(name, "must be " + expected + ", found " + describe_json(found));
}

const Json* FieldReader::value(std::string_view name) {
  read_.emplace(name);
  if (error_) return nullptr;
  auto it = object_.find(name);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

const Json* FieldReader::array(std::string_view name) {
  const Json* found = value(name);
  if (found && !found->is_array()) return wrong(name, "an array", *found), nullptr;
  return found;
}

const Json* FieldReader::object(std::string_view name) {
  const Json* found = value(name);
  if (found && !found->is_object()) return wrong(name, "an object", *found), nullptr;
  return found;
}

std::optional<bool> FieldReader::boolean(std::string_view name) {
  const Json* found = value(name);
  if (!found) return std::nullopt;
  if (!found->is_boolean()) return wrong(name, "true or false", *found), std::nullopt;
  return found->get<bool>();
}

std::optional<std::string> FieldReader::text(std::string_view name) {
  const Json* found = value(name);
  if (!found) return std::nullopt;
  if (!found->is_string()) return wrong(name, "a string", *found), std::nullopt;
  return found->get<std::string>();
}

std::optional<int64_t> FieldReader::integer(std::string_view name, int64_t low, int64_t high) {
  const Json* found = value(name);
  if (!found) return std::nullopt;
  std::optional<int64_t> number = whole(*found);
  if (!number || *number < low || *number > high) {
    wrong(name, "an integer " + range_text(low, high), *found);
    return std::nullopt;
  }
  return number;
}

std::optional<int64_t> FieldReader::integer_at_most(std::string_view name, int64_t low,
                                                    int64_t high) {
  auto number = integer(name, low, std::numeric_limits<int64_t>::max());
  return number ? std::optional(std::min(*number, high)) : std::nullopt;
}

std::optional<double> FieldReader::number(std::string_view name, double low, double high) {
  const Json* found = value(name);
  if (!found) return std::nullopt;
  if (!found->is_number() || found->get<double>() < low || found->get<double>() > high) {
    wrong(name, "a number from " + shown(low) + " to " + shown(high), *found);
    return std::nullopt;
  }
  return found->get<double>();
}

std::optional<std::vector<std::string>> FieldReader::texts(std::string_view name,
                                                           size_t max_count) {
  const Json* found = value(name);
  if (!found) return std::nullopt;
  if (found->is_string()) return std::vector{found->get<std::string>()};
  if (!found->is_array()) return wrong(name, "a string or an array of them", *found), std::nullopt;
  if (found->size() > max_count) {
    wrong(name, "an array of at most " + std::to_string(max_count), *found);
    return std::nullopt;
  }
  std::vector<std::string> all;
  for (const Json& item : *found) {
    if (!item.is_string()) return wrong(name, "strings only", item), std::nullopt;
    all.push_back(item.get<std::string>());
  }
  return all;
}

std::optional<std::vector<int32_t>> FieldReader::token_ids(std::string_view name,
                                                           int32_t vocab_size) {
  const Json* found = array(name);
  if (!found) return std::nullopt;
  std::vector<int32_t> ids;
  ids.reserve(found->size());
  for (const Json& item : *found) {
    std::optional<int64_t> id = whole(item);
    if (!id || *id < 0 || *id >= vocab_size) {
      wrong(name, "token ids from 0 to " + std::to_string(vocab_size - 1), item);
      return std::nullopt;
    }
    ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

void FieldReader::unsupported(std::string_view name, const Json& harmless) {
  const Json* found = value(name);
  if (!found || *found == harmless) return;
  std::string but = harmless.is_null() ? "" : " other than " + dump_json(harmless);
  fail(name, "is not supported" + but + ", found " + describe_json(*found),
       "unsupported_parameter");
}

void FieldReader::refuse_unknown() {
  for (const auto& [name, unused] : object_.items())
    if (!read_.contains(name))
      return fail(name, "is not a field that is known here", "unknown_parameter");
}

}  // namespace matador
