#include "dialects/argument_types.h"

#include "core/json.h"
#include "dialects/call_reader.h"
#include "dialects/json_scanner.h"

namespace matador {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kMaxDepth = 8;

const Json* resolve(const Json& schema, const Json& root) {
  auto ref = schema.find("$ref");
  if (ref == schema.end() || !ref->is_string()) return &schema;
  const auto& path = ref->get_ref<const std::string&>();
  if (!path.starts_with("#/")) return &schema;
  const Json* at = &root;
  for (size_t begin = 2; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    if (!at->is_object() || !at->contains(key)) return &schema;
    at = &(*at)[key];
    begin = end + 1;
  }
  return at->is_object() ? at : &schema;
}

ArgumentType type_of_value(const Json& value) {
  if (value.is_string()) return ArgumentType::text();
  if (value.is_number()) return ArgumentType::named("number");
  if (value.is_boolean()) return ArgumentType::named("boolean");
  if (value.is_null()) return ArgumentType::named("null");
  return ArgumentType::named(value.is_array() ? "array" : "object");
}

template <class TypeOf>
ArgumentType one_of(const Json& list, TypeOf type_of) {
  if (!list.is_array() || list.empty()) return ArgumentType::any();
  ArgumentType type = type_of(list[0]);
  for (const Json& item : list) type = type | type_of(item);
  return type;
}

ArgumentType type_of_schema(const Json& found, const Json& root, int depth) {
  if (!found.is_object() || depth > kMaxDepth) return ArgumentType::any();
  const Json& schema = *resolve(found, root);
  auto named = [](const Json& name) {
    return name.is_string() ? ArgumentType::named(name.get_ref<const std::string&>())
                            : ArgumentType::any();
  };
  if (auto it = schema.find("type"); it != schema.end())
    return it->is_array() ? one_of(*it, named) : named(*it);
  if (auto it = schema.find("enum"); it != schema.end()) return one_of(*it, type_of_value);
  if (auto it = schema.find("const"); it != schema.end()) return type_of_value(*it);
  for (auto key : {"anyOf", "oneOf"})
    if (auto it = schema.find(key); it != schema.end())
      return one_of(*it, [&](const Json& s) { return type_of_schema(s, root, depth + 1); });
  return ArgumentType::any();
}

}  // namespace

ArgumentType ArgumentType::named(std::string_view name) {
  if (name == "string") return text();
  if (name == "number" || name == "integer") return ArgumentType(kNumber);
  if (name == "boolean") return ArgumentType(kBoolean);
  if (name == "null") return ArgumentType(kNull);
  if (name == "array") return ArgumentType(kArray);
  if (name == "object") return ArgumentType(kObject);
  return any();
}

std::string ArgumentType::json_of(std::string_view raw) const {
  std::string_view text = trimmed(raw);
  if (text == "True") text = "true";  // as Python writes them
  if (text == "False") text = "false";
  if (text == "None") text = "null";
  const Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool fits = !value.is_discarded() && (type_of_value(value).bits_ & bits_) != 0;
  return fits ? std::string(text) : quote_json(raw);
}

ArgumentTypes::ArgumentTypes(std::string_view schema) {
  const Json root = Json::parse(schema, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return;
  const Json& object = *resolve(root, root);
  auto properties = object.find("properties");
  if (properties == object.end() || !properties->is_object()) return;
  for (const auto& [name, property] : properties->items()) {
    types_.emplace(name, type_of_schema(property, root, 0));
    names_.push_back(name);
  }
}

ArgumentType ArgumentTypes::of(std::string_view argument) const {
  auto it = types_.find(argument);
  return it == types_.end() ? ArgumentType::any() : it->second;
}

}  // namespace matador
