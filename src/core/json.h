// JSON from outside: parsed within limits, errors told as Results. The only header that shows the
// JSON library; include it from sources alone.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/result.h"

namespace matador {

struct JsonLimits {
  size_t bytes = size_t{64} << 20;
  int depth = 64;  // arrays and objects within each other
  bool unique_keys = false;
};

// The error names `source` and the line and column, or the key.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& source,
                                  const JsonLimits& limits = {});
// As compact text; bytes that are not UTF-8 become U+FFFD.
std::string dump_json(const nlohmann::json& value);

}  // namespace matador
