#include "api/structured_output.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/field_reader.h"

namespace matador {
namespace {

using Kind = GrammarSource::Kind;

constexpr const char* kAnyObject = R"({"type": "object"})";
constexpr size_t kMaxSchemaName = 64;

// The constraints that were found, to complain of a second one.
class Found {
 public:
  explicit Found(FieldReader& in) : in_(in) {}

  void add(std::string field, Kind kind, std::string text) {
    if (wanted_)
      return in_.fail({.message = "'" + wanted_->field + "' and '" + field +
                                  "' both say what the output must look like; give one of them",
                       .param = field,
                       .code = "invalid_value"});
    wanted_ = {std::move(field), {kind, std::move(text)}};
  }
  std::optional<StructuredOutput> take() { return std::move(wanted_); }

 private:
  FieldReader& in_;
  std::optional<StructuredOutput> wanted_;
};

// JSON as vLLM takes it: itself, or a string that holds it.
std::string json_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump_json(value);
}

bool is_schema_name(const std::string& name) {
  auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= kMaxSchemaName && std::ranges::all_of(name, allowed);
}

void read_json_schema(FieldReader& format, Found& found) {
  const Json* object = format.object("json_schema");
  if (format.error()) return;
  if (!object) return format.fail("json_schema", "is required", "missing_required_parameter");
  FieldReader in(*object, format.path_of("json_schema"));
  auto name = in.text("name");
  if (!name && !in.error()) in.fail("name", "is required", "missing_required_parameter");
  if (name && !is_schema_name(*name))
    in.fail("name", "must be 1 to 64 letters, digits, '_' and '-', found \"" + *name + "\"");
  in.text("description");
  in.boolean("strict");
  const Json* schema = in.object("schema");
  if (!schema && !in.error()) in.fail("schema", "is required", "missing_required_parameter");
  in.refuse_unknown();
  if (in.error()) return format.fail(*in.error());
  found.add(in.path_of("schema"), Kind::json_schema, dump_json(*schema));
}

void read_response_format(FieldReader& in, Found& found) {
  const Json* object = in.object("response_format");
  if (!object) return;
  FieldReader format(*object, "response_format");
  auto type = format.text("type");
  if (!type && !format.error()) format.fail("type", "is required", "missing_required_parameter");
  if (type == "structural_tag")
    return found.add("response_format", Kind::structural_tag, dump_json(*object));
  if (type == "json_schema") {
    read_json_schema(format, found);
  } else if (type == "json_object") {
    found.add("response_format", Kind::json_schema, kAnyObject);
  } else if (type && type != "text") {
    format.fail("type",
                "must be \"text\", \"json_object\", \"json_schema\" or \"structural_tag\", "
                "found \"" +
                    *type + "\"");
  }
  format.refuse_unknown();
  if (format.error()) in.fail(*format.error());
}

// The fields that both spellings of vLLM's have, with names such as "guided_json" and "json".
void read_kinds(FieldReader& in, const std::string& prefix, Found& found) {
  if (const Json* schema = in.value(prefix + "json"))
    found.add(in.path_of(prefix + "json"), Kind::json_schema, json_text(*schema));
  if (auto regex = in.text(prefix + "regex"))
    found.add(in.path_of(prefix + "regex"), Kind::regex, *regex);
  if (const Json* choices = in.array(prefix + "choice"))
    found.add(in.path_of(prefix + "choice"), Kind::choice, dump_json(*choices));
  if (auto grammar = in.text(prefix + "grammar"))
    found.add(in.path_of(prefix + "grammar"), Kind::lark_or_gbnf, *grammar);
}

void read_structured_outputs(FieldReader& in, Found& found) {
  const Json* object = in.object("structured_outputs");
  if (!object) return;
  FieldReader outputs(*object, "structured_outputs");
  read_kinds(outputs, "", found);
  if (outputs.boolean("json_object").value_or(false))
    found.add(outputs.path_of("json_object"), Kind::json_schema, kAnyObject);
  if (const Json* tag = outputs.value("structural_tag"))
    found.add(outputs.path_of("structural_tag"), Kind::structural_tag, json_text(*tag));
  outputs.refuse_unknown();
  if (outputs.error()) in.fail(*outputs.error());
}

}  // namespace

std::optional<StructuredOutput> read_structured_output(FieldReader& in) {
  Found found(in);
  read_response_format(in, found);
  read_kinds(in, "guided_", found);
  read_structured_outputs(in, found);
  return found.take();
}

ApiResult<std::shared_ptr<const Constraint>> compile_constraint(const StructuredOutput& wanted,
                                                                const ApiModel& model) {
  if (!model.served->grammars)
    return ApiError{.message = "The model has no tokenizer", .code = "no_tokenizer"};
  auto constraint = model.served->grammars->constraint(wanted.source);
  if (constraint.ok()) return *constraint;
  const Error& error = constraint.error();
  bool theirs = error.code == ErrorCode::invalid_argument || error.code == ErrorCode::unsupported;
  if (!theirs) return to_api_error(error);
  return field_error(wanted.field, "cannot be enforced: " + error.message);
}

}  // namespace matador
