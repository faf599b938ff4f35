// The query of a URL, "limit=20&after=x", read like the fields of a body. Internal to this room,
// but for percent_decode.
#pragma once

#include <string>
#include <string_view>

#include "api/json.h"
#include "store/page.h"

namespace matador {

class FieldReader;

// "%2F" and the like; what is not an escape stays.
std::string percent_decode(std::string_view text);

// An object of strings; of a name that appears twice, the last.
Json parse_query(std::string_view query);

// limit (1 to `max_limit`), after, and order ("asc" or "desc") where the list has one; the first
// fault stays in `fields`.
struct PageLimits {
  int64_t usual = 20, max = 100;
  bool ordered = false;
};
PageRequest read_page(FieldReader& fields, const PageLimits& limits);

}  // namespace matador
