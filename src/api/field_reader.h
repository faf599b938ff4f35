// FieldReader: reads the fields of a JSON object, each with its type and range. The first fault
// is kept and later reads return nothing, so a parser reads like the list of its fields. A field
// that is null counts as absent, as in OpenAI's API. Internal to this room.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace matador {

class FieldReader {
 public:
  // `path` comes before field names in errors: "messages[2]". The object must outlive the reader.
  explicit FieldReader(const Json& object, std::string path = "");

  std::optional<bool> boolean(std::string_view name);
  std::optional<std::string> text(std::string_view name);
  std::optional<int64_t> integer(std::string_view name, int64_t low, int64_t high);
  // Anything above `high` is taken as `high`: for limits that mean "no limit" when large.
  std::optional<int64_t> integer_at_most(std::string_view name, int64_t low, int64_t high);
  std::optional<double> number(std::string_view name, double low, double high);
  // A string or an array of strings.
  std::optional<std::vector<std::string>> texts(std::string_view name, size_t max_count);
  std::optional<std::vector<int32_t>> token_ids(std::string_view name, int32_t vocab_size);
  // Any type; null: absent.
  const Json* value(std::string_view name);
  const Json* array(std::string_view name);
  const Json* object(std::string_view name);

  // The field is known but what it asks for cannot be done: an error unless absent, or equal to
  // `harmless`, the one value that asks for nothing.
  void unsupported(std::string_view name, const Json& harmless = nullptr);
  // To be called last: every field that was not read is an error.
  void refuse_unknown();

  void fail(std::string_view name, const std::string& what, std::string code = "invalid_value");
  void fail(ApiError error);
  const std::optional<ApiError>& error() const { return error_; }
  std::string path_of(std::string_view name) const;

 private:
  void wrong(std::string_view name, const std::string& expected, const Json& found);

  const Json& object_;
  std::string path_;
  std::set<std::string, std::less<>> read_;
  std::optional<ApiError> error_;
};

}  // namespace matador
