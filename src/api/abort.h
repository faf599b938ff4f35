// POST /v1/abort
#pragma once

#include <string>
#include <string_view>

#include "api/error.h"

namespace matador {

// {"request_id"}: the X-Request-Id of what is to end.
ApiResult<std::string> parse_abort(std::string_view body);

}  // namespace matador
