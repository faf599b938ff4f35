#include "api/batch_objects.h"

#include <charconv>
#include <optional>

#include "api/field_reader.h"
#include "api/json.h"
#include "api/print.h"
#include "api/query.h"

namespace matador {
namespace {

constexpr int64_t kLongestWindow = int64_t{7} * 24 * 3600;                          // seconds
constexpr size_t kMaxMetadata = 16, kMaxMetadataKey = 64, kMaxMetadataValue = 512;  // OpenAI's

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json json_or_null(const std::string& text) { return text.empty() ? Json() : Json::parse(text); }

Json batch_object(const BatchJob& batch) {
  Json object = {{"id", batch.id},
                 {"object", "batch"},
                 {"endpoint", batch.endpoint},
                 {"errors", json_or_null(batch.errors)},
                 {"input_file_id", batch.input_file_id},
                 {"completion_window", batch.completion_window},
                 {"status", name_of(batch.status)},
                 {"output_file_id", text_or_null(batch.output_file_id)},
                 {"error_file_id", text_or_null(batch.error_file_id)},
                 {"created_at", batch.created_at},
                 {"expires_at", batch.expires_at}};
  for (BatchStatus status : {BatchStatus::in_progress, BatchStatus::finalizing,
                             BatchStatus::completed, BatchStatus::failed, BatchStatus::expired,
                             BatchStatus::cancelling, BatchStatus::cancelled}) {
    auto time = batch.reached.find(status);
    object[std::string(name_of(status)) + "_at"] =
        time == batch.reached.end() ? Json() : Json(time->second);
  }
  object["request_counts"] = {
      {"total", batch.total}, {"completed", batch.completed}, {"failed", batch.failed}};
  object["metadata"] = json_or_null(batch.metadata);
  return object;
}

// "24h" in seconds.
std::optional<int64_t> window_seconds(std::string_view window) {
  int64_t count = 0;
  auto [end, error] = std::from_chars(window.data(), window.data() + window.size(), count);
  if (error != std::errc() || end + 1 != window.data() + window.size()) return std::nullopt;
  constexpr std::pair<char, int64_t> kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  for (auto [unit, seconds] : kUnits)
    if (*end == unit && count >= 1 && count <= kLongestWindow / seconds) return count * seconds;
  return std::nullopt;
}

std::string read_metadata(FieldReader& in) {
  const Json* found = in.object("metadata");
  if (!found) return "";
  if (found->size() > kMaxMetadata) in.fail("metadata", "must have at most 16 pairs");
  for (const auto& [key, value] : found->items()) {
    if (key.size() > kMaxMetadataKey || !value.is_string() ||
        value.get_ref<const std::string&>().size() > kMaxMetadataValue)
      in.fail("metadata", "must have keys of at most 64 and string values of at most 512 bytes");
  }
  return dump_json(*found);
}

std::string required(FieldReader& in, const char* name) {
  auto value = in.text(name);
  if (!value) in.fail(name, "is required", "missing_required_parameter");
  return value.value_or("");
}

}  // namespace

std::string batch_body(const BatchJob& batch) { return dump_json(batch_object(batch)); }

std::string batch_list_body(const Page<BatchJob>& page) {
  Json data = Json::array();
  for (const BatchJob& batch : page.items) data.push_back(batch_object(batch));
  return list_body(std::move(data), page.has_more);
}

ApiError no_such_batch(std::string_view id) {
  return {.status = 404,
          .message = "There is no batch with the id '" + std::string(id) + "'",
          .param = "id",
          .code = "batch_not_found"};
}

ApiResult<BatchRequest> parse_batch(std::string_view body,
                                    const std::function<bool(std::string_view)>& is_endpoint) {
  ApiResult<Json> json = parse_json_object(body);
  if (!json.ok()) return json.error();
  FieldReader in(*json);
  BatchRequest request;
  request.batch.input_file_id = required(in, "input_file_id");
  request.batch.endpoint = required(in, "endpoint");
  if (!in.error() && !is_endpoint(request.batch.endpoint))
    in.fail("endpoint",
            "is not a route that batches can call, found " + describe_json(request.batch.endpoint));
  request.batch.completion_window = required(in, "completion_window");
  auto seconds = window_seconds(request.batch.completion_window);
  if (!seconds)
    in.fail("completion_window", "must be a time like \"24h\", of at most \"7d\", found " +
                                     describe_json(request.batch.completion_window));
  request.seconds = seconds.value_or(0);
  request.batch.metadata = read_metadata(in);
  in.unsupported("output_expires_after");
  in.refuse_unknown();
  if (in.error()) return *in.error();
  return request;
}

ApiResult<PageRequest> parse_batch_query(std::string_view query) {
  Json fields = parse_query(query);
  FieldReader in(fields);
  PageRequest page = read_page(in, {.usual = 20, .max = 100});
  in.refuse_unknown();
  if (in.error()) return *in.error();
  return page;
}

}  // namespace matador
