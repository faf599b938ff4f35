#include "api/usage_objects.h"

#include <charconv>
#include <ctime>

#include "api/field_reader.h"
#include "api/query.h"

namespace matador {
namespace {

int64_t read_time(FieldReader& in, const char* name, int64_t otherwise) {
  auto text = in.text(name);
  if (!text) return otherwise;
  int64_t time = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), time);
  if (error != std::errc() || end != text->data() + text->size() || time < 0)
    in.fail(name, "must be a time in Unix seconds, found " + describe_json(*text));
  return time;
}

}  // namespace

ApiResult<UsageQuery> parse_usage_query(std::string_view query) {
  constexpr int64_t kDay = int64_t{24} * 3600;
  Json fields = parse_query(query);
  FieldReader in(fields);
  int64_t now = std::time(nullptr);
  UsageQuery wanted{read_time(in, "start_time", now - kDay), read_time(in, "end_time", now + 1),
                    in.text("key")};
  in.refuse_unknown();
  if (in.error()) return *in.error();
  return wanted;
}

std::string usage_page_body(const std::vector<UsageRecord>& records) {
  Json data = Json::array();
  for (const UsageRecord& record : records)
    data.push_back({{"object", "usage.result"},
                    {"start_time", record.start_time},
                    {"key", record.owner},
                    {"model", record.model},
                    {"num_model_requests", record.num_requests},
                    {"input_tokens", record.input_tokens},
                    {"input_cached_tokens", record.cached_tokens},
                    {"output_tokens", record.output_tokens}});
  return dump_json({{"object", "list"}, {"data", std::move(data)}});
}

}  // namespace matador
