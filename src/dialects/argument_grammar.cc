#include "dialects/argument_grammar.h"

#include <algorithm>
#include <array>

#include "core/json.h"

namespace matador {
namespace {

using Json = nlohmann::ordered_json;

// One space after ',' and ':', as models are trained to write JSON, and no other.
void set_whitespace(Json& schema) {
  schema["x-guidance"] = {
      {"whitespace_flexible", false}, {"item_separator", ", "}, {"key_separator", ": "}};
}

// Takes away what only describes: it is for the prompt, and may be long.
void drop_descriptions(Json& schema) {
  if (schema.is_array())
    for (Json& item : schema) drop_descriptions(item);
  if (!schema.is_object()) return;
  for (auto key : {"description", "title", "$comment", "examples", "default"}) schema.erase(key);
  for (auto& [key, value] : schema.items()) {
    const bool has_names =
        key == "properties" || key == "patternProperties" || key == "$defs" || key == "definitions";
    if (has_names && value.is_object())
      for (Json& named : value) drop_descriptions(named);
    else if (key != "const" && key != "enum")
      drop_descriptions(value);
  }
}

// An absent schema is a function without parameters. Names that the schema does not have are not
// written where it does not speak of them.
Json object_schema(const Tool& tool) {
  if (tool.parameters.empty())
    return {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  Json schema = Json::parse(tool.parameters, nullptr, /*allow_exceptions=*/false);
  if (!schema.is_object()) schema = Json::object();
  drop_descriptions(schema);
  schema["type"] = "object";
  bool closes = schema.contains("properties");
  for (auto key : {"additionalProperties", "unevaluatedProperties", "patternProperties", "anyOf",
                   "oneOf", "allOf", "$ref"})
    closes = closes && !schema.contains(key);
  if (closes) schema["additionalProperties"] = false;
  return schema;
}

// Arguments one by one, in the schema's order, those that are required first.
class ByArgument {
 public:
  ByArgument(const Tool& tool, const WrittenCalls& written, GrammarWriter& grammar)
      : tool_(tool), written_(written), grammar_(grammar), schema_(object_schema(tool)) {}

  Result<std::string> add() {
    for (const auto& [key, value] : schema_.items()) {
      constexpr std::array<std::string_view, 12> kKnown = {
          "type",  "properties",  "required", "additionalProperties",
          "$defs", "definitions", "title",    "description",
          "$id",   "$schema",     "default",  "examples"};
      if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end())
        return unsupported(tool_.name + ": parameters." + key +
                           " is not supported at the top of a schema, since the model writes "
                           "arguments one by one");
    }
    const Json none = Json::object();
    const Json& properties = schema_.contains("properties") ? schema_["properties"] : none;
    if (!properties.is_object())
      return invalid_argument(tool_.name + ": parameters.properties must be an object");
    std::vector<std::string> required, optional;
    for (const auto& [name, property] : properties.items())
      (is_required(name) ? required : optional).push_back(argument(name, property));
    return grammar_.rule(sequence(required, optional));
  }

 private:
  bool is_required(const std::string& name) const {
    auto list = schema_.find("required");
    return list != schema_.end() && list->is_array() &&
           std::find(list->begin(), list->end(), Json(name)) != list->end();
  }

  std::string sequence(const std::vector<std::string>& required,
                       const std::vector<std::string>& optional) {
    const std::string separator = grammar_.literal(written_.argument_separator);
    const std::string ahead = separator.empty() ? "" : separator + " ";
    auto rest = [&](size_t from) {
      std::string all;
      for (size_t i = from; i < optional.size(); ++i)
        all.append(" (").append(ahead).append(optional[i]).append(")?");
      return all;
    };
    if (!required.empty()) {
      std::string all = required.front();
      for (size_t i = 1; i < required.size(); ++i)
        all.append(" ").append(ahead).append(required[i]);
      return all + rest(0);
    }
    std::vector<std::string> alternatives = {"\"\""};
    for (size_t i = 0; i < optional.size(); ++i) alternatives.push_back(optional[i] + rest(i + 1));
    return any_of(alternatives);
  }

  std::string argument(const std::string& name, const Json& property) {
    const std::string key = std::string(written_.key_begin) + name + std::string(written_.key_end);
    const std::string text = written_.bare_strings ? bare_text(property) : "";
    if (!text.empty())
      return grammar_.rule(grammar_.literal(key) + " " +
                           grammar_.lazy_rule(text + escape_regex(written_.value_end)));
    Json schema = property;
    for (auto definitions : {"$defs", "definitions"})
      if (schema_.contains(definitions) && schema.is_object() && !schema.contains(definitions))
        schema[definitions] = schema_[definitions];
    if (schema.is_object()) set_whitespace(schema);
    return grammar_.rule(grammar_.literal(key) + " " + grammar_.json_rule(schema.dump()) + " " +
                         grammar_.literal(written_.value_end));
  }

  // The regular expression of a string without quotes; "": the property is not just a string.
  static std::string bare_text(const Json& property) {
    if (!property.is_object() || property.value("type", Json("string")) != "string") return "";
    if (auto values = property.find("enum"); values != property.end() && values->is_array()) {
      std::string all;
      for (const Json& value : *values) {
        if (!value.is_string()) return "";
        all.append(all.empty() ? "" : "|").append(escape_regex(value.get<std::string>()));
      }
      return std::string("(").append(all).append(")");
    }
    if (!property.contains("type")) return "";
    auto bound = [&](const char* key, const std::string& otherwise) {
      auto it = property.find(key);
      return it != property.end() && it->is_number_unsigned() ? it->dump() : otherwise;
    };
    if (!property.contains("minLength") && !property.contains("maxLength"))
      return std::string(kAnyText);
    return std::string("(.|\\n){")
        .append(bound("minLength", "0"))
        .append(",")
        .append(bound("maxLength", ""))
        .append("}");
  }

  const Tool& tool_;
  const WrittenCalls& written_;
  GrammarWriter& grammar_;
  Json schema_;
};

}  // namespace

Result<std::string> add_arguments(const Tool& tool, const WrittenCalls& written,
                                  GrammarWriter& grammar) {
  if (written.by_argument) return ByArgument(tool, written, grammar).add();
  Json schema = object_schema(tool);
  set_whitespace(schema);
  return grammar.json_rule(schema.dump());
}

}  // namespace matador
