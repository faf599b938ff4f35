#include "api/error.h"

#include "api/json.h"

namespace matador {

ApiError field_error(const std::string& param, const std::string& what, std::string code) {
  return {.message = "'" + param + "' " + what, .param = param, .code = std::move(code)};
}

ApiError to_api_error(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported: return {.status = 400, .message = error.message};
    case ErrorCode::not_found: return {.status = 404, .message = error.message};
    case ErrorCode::unavailable:
      return {.status = 503,
              .message = error.message,
              .code = "unavailable",
              .type = "service_unavailable_error"};
    case ErrorCode::out_of_memory:
    case ErrorCode::io:
    case ErrorCode::internal: break;
  }
  return {
      .status = 500, .message = error.message, .code = "internal_error", .type = "server_error"};
}

std::string error_body(const ApiError& error) {
  auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return dump_json({{"error",
                     {{"message", error.message},
                      {"type", error.type},
                      {"param", text_or_null(error.param)},
                      {"code", text_or_null(error.code)}}}});
}

}  // namespace matador
