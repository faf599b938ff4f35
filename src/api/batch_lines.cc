#include "api/batch_lines.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "api/json.h"
#include "core/random_id.h"

namespace matador {
namespace {

constexpr size_t kMaxFaults = 100;
constexpr size_t kMaxCustomId = 512;

BatchFault fault(std::string code, std::string message, std::string param = "") {
  return {std::move(code), std::move(message), std::move(param)};
}

std::optional<BatchFault> check_form(const Json& line, std::string_view endpoint) {
  auto id = line.find("custom_id");
  if (id == line.end() || !id->is_string() || id->get_ref<const std::string&>().empty())
    return fault("missing_required_parameter", "'custom_id' must be a string, and not empty",
                 "custom_id");
  if (id->get_ref<const std::string&>().size() > kMaxCustomId)
    return fault("invalid_value", "'custom_id' must have at most 512 bytes", "custom_id");
  if (auto method = line.find("method"); method == line.end() || *method != "POST")
    return fault("invalid_method", "'method' must be \"POST\"", "method");
  if (auto url = line.find("url"); url == line.end() || *url != std::string(endpoint))
    return fault("mismatched_url",
                 "'url' must be the batch's endpoint, \"" + std::string(endpoint) + "\"", "url");
  auto body = line.find("body");
  if (body == line.end() || !body->is_object())
    return fault("missing_required_parameter", "'body' must be an object", "body");
  if (auto stream = body->find("stream"); stream != body->end() && *stream == true)
    return fault("invalid_value", "'stream' must not be true in a batch", "body.stream");
  for (const auto& [key, unused] : line.items())
    if (key != "custom_id" && key != "method" && key != "url" && key != "body")
      return fault("unknown_parameter", "'" + key + "' is not a field that is known here", key);
  return std::nullopt;
}

// A string among an object's fields, or nothing.
std::optional<std::string> text_field(std::string_view text, const char* name) {
  ApiResult<Json> line = parse_json_object(text);
  if (!line.ok()) return std::nullopt;
  auto found = line->find(name);
  if (found == line->end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

class Scanner {
 public:
  explicit Scanner(std::string_view endpoint) : endpoint_(endpoint) {}

  void take(std::string_view text, int64_t offset) {
    ++number_;
    if (text.find_first_not_of(" \t\r") == text.npos) return;
    ApiResult<Json> line = parse_json(text);
    if (!line.ok()) return note(fault("invalid_json_line", line.error().message));
    if (!line->is_object())
      return note(fault("invalid_json_line", "it is not an object: " + describe_json(*line)));
    if (auto found = check_form(*line, endpoint_)) return note(std::move(*found));
    auto id = (*line)["custom_id"].get<std::string>();
    if (!ids_.insert(id).second)
      return note(fault("duplicate_custom_id",
                        "'custom_id' " + describe_json(id) + " is another line's already",
                        "custom_id"));
    result.lines.push_back({number_, std::move(id), offset, static_cast<int64_t>(text.size())});
  }

  ScannedBatch result;

 private:
  void note(BatchFault found) {
    if (result.faults.size() >= kMaxFaults) return;
    found.line = number_;
    result.faults.push_back(std::move(found));
  }

  std::string_view endpoint_;
  int64_t number_ = 0;
  std::unordered_set<std::string> ids_;
};

std::string head(const BatchLine& line) {
  std::string ids = dump_json({{"id", random_id("batch_req_")}, {"custom_id", line.custom_id}});
  ids.pop_back();
  return ids;
}

}  // namespace

ScannedBatch scan_batch(std::string_view text, std::string_view endpoint) {
  Scanner scanner(endpoint);
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    scanner.take(text.substr(begin, end - begin), static_cast<int64_t>(begin));
    begin = end + 1;
    if (scanner.result.lines.size() > kMaxBatchLines) break;
  }
  ScannedBatch& result = scanner.result;
  if (result.lines.size() > kMaxBatchLines)
    result.faults.push_back(
        fault("too_many_lines",
              "The file has more than " + std::to_string(kMaxBatchLines) + " requests"));
  if (result.lines.empty() && result.faults.empty())
    result.faults.push_back(fault("empty_file", "The file has no requests"));
  return std::move(result);
}

std::string batch_faults_text(const std::vector<BatchFault>& faults) {
  Json data = Json::array();
  for (const BatchFault& f : faults)
    data.push_back({{"code", f.code},
                    {"message", f.message},
                    {"param", f.param.empty() ? Json() : Json(f.param)},
                    {"line", f.line == 0 ? Json() : Json(f.line)}});
  return dump_json({{"object", "list"}, {"data", std::move(data)}});
}

std::string first_batch_url(std::string_view text) {
  size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  size_t end = std::min(text.find('\n', begin), text.size());
  return text_field(text.substr(begin, end - begin), "url").value_or("");
}

std::optional<std::string> batch_answer_id(std::string_view text) {
  return text_field(text, "custom_id");
}

ApiResult<std::string> batch_line_body(std::string_view text) {
  ApiResult<Json> line = parse_json_object(text);
  if (!line.ok()) return line.error();
  return dump_json((*line)["body"]);
}

BatchAnswer batch_answer(const BatchLine& line, int status, const std::string& body) {
  return {line.number, status == 200,
          head(line) + R"(,"response":{"status_code":)" + std::to_string(status) +
              R"(,"request_id":")" + random_id("req_") + R"(","body":)" + body +
              R"(},"error":null})" + "\n"};
}

BatchAnswer batch_unanswered(const BatchLine& line, const std::string& code,
                             const std::string& message) {
  return {line.number, false,
          head(line) + R"(,"response":null,"error":)" +
              dump_json({{"code", code}, {"message", message}}) + "}\n"};
}

}  // namespace matador
