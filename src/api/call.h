// A call of a generating route, ready for the engine. Parsing, templates and tokenising happen
// here, on the caller's thread, and may take long for long prompts.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "api/answer.h"
#include "api/api_model.h"
#include "api/error.h"
#include "engine/request.h"

namespace matador {

struct Call {
  std::vector<Request> requests;  // without sinks; more than one for a list of prompts
  std::unique_ptr<Answer> answer;
};

// POST /v1/chat/completions
ApiResult<Call> prepare_chat(std::string_view body, const ApiModel& model);
// POST /v1/completions
ApiResult<Call> prepare_completion(std::string_view body, const ApiModel& model);

// POST /tokenize and /detokenize, as vLLM has them.
ApiResult<std::string> tokenize_body(std::string_view body, const ApiModel& model);
ApiResult<std::string> detokenize_body(std::string_view body, const ApiModel& model);

}  // namespace matador
