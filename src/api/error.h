// ApiError: a failure as OpenAI's API reports it.
// https://platform.openai.com/docs/guides/error-codes
#pragma once

#include <string>

#include "core/result.h"

namespace matador {

struct ApiError {
  int status = 400;  // HTTP
  std::string message = {};
  std::string param = {};  // the request's field, "" where there is none
  std::string code = {};   // a short machine-readable reason, or ""
  std::string type = "invalid_request_error";
};

template <class T>
using ApiResult = Result<T, ApiError>;

// 400 for one field: "`param` <what>".
ApiError field_error(const std::string& param, const std::string& what,
                     std::string code = "invalid_value");
// How a failure below the API looks from outside.
ApiError to_api_error(const Error& error);

// {"error": {"message", "type", "param", "code"}}
std::string error_body(const ApiError& error);

}  // namespace matador
