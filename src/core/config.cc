#include "core/config.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/file.h"
#include "core/json.h"

namespace matador {

using Json = nlohmann::json;

struct Config::Impl {
  Json root = Json::object();
  std::string source;

  // Keys that contain dots are found too: at each level the rest of the path is first taken as
  // one key.
  const Json* find(std::string_view path) const {
    const Json* node = &root;
    while (node != nullptr) {
      if (const Json* whole = child(*node, path)) return whole->is_null() ? nullptr : whole;
      const size_t dot = path.find('.');
      if (dot == std::string_view::npos) return nullptr;
      node = child(*node, path.substr(0, dot));
      path.remove_prefix(dot + 1);
    }
    return nullptr;
  }

  // A member of an object, or an element of a list by its number.
  static const Json* child(const Json& node, std::string_view key) {
    if (node.is_object()) {
      const auto member = node.find(std::string(key));
      return member == node.end() ? nullptr : &*member;
    }
    size_t index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    const bool whole = error == std::errc() && end == key.data() + key.size();
    return node.is_array() && whole && index < node.size() ? &node[index] : nullptr;
  }

  static void assign(std::shared_ptr<Impl>& impl, std::string_view key, Json value) {
    if (impl.use_count() > 1) impl = std::make_shared<Impl>(*impl);
    impl->root[std::string(key)] = std::move(value);
  }
};

namespace {

constexpr JsonLimits kConfigLimits{.bytes = size_t{16} << 20};

std::optional<double> as_number(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

// Whole numbers written as 1e6 or 2048.0 count as integers.
std::optional<int64_t> as_integer(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.get<double>();
  if (std::trunc(number) != number || std::abs(number) > 0x1p53) return std::nullopt;
  return static_cast<int64_t>(number);
}

std::optional<bool> as_boolean(const Json& value) {
  if (!value.is_boolean()) return std::nullopt;
  return value.get<bool>();
}

std::optional<std::string> as_text(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

template <class T>
std::optional<T> read(const Json* value, std::optional<T> (*convert)(const Json&)) {
  return value == nullptr ? std::nullopt : convert(*value);
}

template <class T>
std::optional<std::vector<T>> read_all(const Json* list, std::optional<T> (*convert)(const Json&)) {
  if (list == nullptr || !list->is_array()) return std::nullopt;
  std::vector<T> values;
  values.reserve(list->size());
  for (const Json& item : *list) {
    std::optional<T> value = convert(item);
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace

Config::Config() : impl_(std::make_shared<Impl>()) {}

Result<Config> Config::parse(std::string_view json, std::string source) {
  Result<Json> root = parse_json(json, source, kConfigLimits);
  if (!root) return root.error();
  if (!root->is_object()) {
    return invalid_argument(source + ": found a JSON " + root->type_name() +
                            ", expected an object");
  }
  Config config;
  config.impl_->root = std::move(*root);
  config.impl_->source = std::move(source);
  return config;
}

Result<Config> Config::read(const std::string& path) {
  Result<std::string> text = read_file(path, kConfigLimits.bytes);
  if (!text) return text.error();
  return parse(*text, path);
}

bool Config::has(std::string_view key) const { return impl_->find(key) != nullptr; }

std::optional<int64_t> Config::integer(std::string_view key) const {
  return matador::read(impl_->find(key), as_integer);
}
std::optional<double> Config::number(std::string_view key) const {
  return matador::read(impl_->find(key), as_number);
}
std::optional<bool> Config::boolean(std::string_view key) const {
  return matador::read(impl_->find(key), as_boolean);
}
std::optional<std::string> Config::text(std::string_view key) const {
  return matador::read(impl_->find(key), as_text);
}
std::optional<std::vector<double>> Config::numbers(std::string_view key) const {
  return read_all(impl_->find(key), as_number);
}
std::optional<std::vector<int64_t>> Config::integers(std::string_view key) const {
  return read_all(impl_->find(key), as_integer);
}
std::optional<std::vector<std::string>> Config::texts(std::string_view key) const {
  return read_all(impl_->find(key), as_text);
}

std::optional<Config> Config::object(std::string_view key) const {
  const Json* value = impl_->find(key);
  if (value == nullptr || !value->is_object()) return std::nullopt;
  Config config;
  config.impl_->root = *value;
  config.impl_->source = impl_->source + ": " + std::string(key);
  return config;
}

std::vector<std::string> Config::keys() const {
  std::vector<std::string> keys;
  for (const auto& item : impl_->root.items()) keys.push_back(item.key());
  return keys;
}

void Config::set(std::string_view key, int64_t value) { Impl::assign(impl_, key, value); }
void Config::set(std::string_view key, double value) { Impl::assign(impl_, key, value); }
void Config::set(std::string_view key, bool value) { Impl::assign(impl_, key, value); }
void Config::set(std::string_view key, const std::string& value) {
  Impl::assign(impl_, key, value);
}
void Config::set(std::string_view key, const std::vector<double>& value) {
  Impl::assign(impl_, key, value);
}
void Config::set(std::string_view key, const std::vector<int64_t>& value) {
  Impl::assign(impl_, key, value);
}
void Config::set(std::string_view key, const std::vector<std::string>& value) {
  Impl::assign(impl_, key, value);
}
void Config::set(std::string_view key, const Config& value) {
  Impl::assign(impl_, key, value.impl_->root);
}

std::string Config::dump(std::string_view key) const {
  const Json* value = impl_->find(key);
  return value == nullptr ? "" : dump_json(*value);
}
std::string Config::dump() const { return dump_json(impl_->root); }
const std::string& Config::source() const { return impl_->source; }

}  // namespace matador
