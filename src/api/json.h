// JSON of requests and answers. Internal to this room.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "api/error.h"

namespace matador {

// Keeps the order of keys, which templates show to the model.
using Json = nlohmann::ordered_json;

inline constexpr size_t kMaxJsonDepth = 64;
inline constexpr size_t kMaxJsonValues = 2'000'000;  // bounds the memory a body can claim

// Strict RFC 8259: UTF-8 only, one value, no NaN. Refuses duplicate keys, whose meaning parsers
// disagree about, numbers outside a double, and what passes the limits above.
ApiResult<Json> parse_json(std::string_view text);
// As parse_json, and an object.
ApiResult<Json> parse_json_object(std::string_view text);

// Compact; bytes that are not UTF-8 become U+FFFD.
std::string dump_json(const Json& value);

// A value as an error message shows it: cut to a few dozen characters.
std::string describe_json(const Json& value);

}  // namespace matador
