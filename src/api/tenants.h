// Tenants: who may call, and how much: the file of API keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace matador {

struct Tenant {
  std::string name;  // owns files, batches and usage; "": all who need no key
  std::string key = {};
  double weight = 1;     // its share of the engine's tokens when there are too few for all
  int32_t priority = 0;  // added to its requests'; lower runs first
  std::optional<int64_t> requests_per_minute = {}, tokens_per_minute = {};
  std::optional<int32_t> max_concurrent_requests = {};  // running and waiting together
  bool admin = false;                                   // sees everybody's usage
};

// {"keys": [{"name", "key", "weight", "priority", "requests_per_minute", "tokens_per_minute",
// "max_concurrent_requests", "admin"}]}. `source` names the file in errors.
Result<std::vector<Tenant>> parse_tenants(std::string_view text, const std::string& source);

}  // namespace matador
