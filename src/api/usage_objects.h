// What keys have used, in the shape of OpenAI's usage API.
// https://platform.openai.com/docs/api-reference/usage
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.h"
#include "store/usage_ledger.h"

namespace matador {

// GET /v1/usage?start_time=&end_time=&key=: Unix seconds (default: the last 24 hours, to now) and
// the name of a key (default: the caller's own, or all for an administrator).
struct UsageQuery {
  int64_t start_time = 0, end_time = 0;
  std::optional<std::string> key;
};
ApiResult<UsageQuery> parse_usage_query(std::string_view query);

std::string usage_page_body(const std::vector<UsageRecord>& records);

}  // namespace matador
