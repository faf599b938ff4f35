// What a chat request says of reasoning. Internal to this room.
#pragma once

#include <optional>

#include "api/api_model.h"
#include "api/chat_prompt.h"

namespace matador {

class FieldReader;

struct ReasoningRequest {
  bool include = true;                 // the answer shows it
  std::optional<int32_t> budget = {};  // tokens that it may have; then its end is forced
};

// include_reasoning, thinking_token_budget, and reasoning_effort, which becomes the variable that
// the chat template knows: its own reasoning_effort, or enable_thinking (false for "none"). A
// template that knows neither is an error, since the effort would be ignored.
ReasoningRequest read_reasoning(FieldReader& fields, const ApiModel& model, ChatPrompt& prompt);

// A budget of `max_tokens` for the reasoning of a model whose reasoning_format is not null.
ApiResult<SpanBudgetParams> thinking_budget(int32_t max_tokens, bool open, const ApiModel& model);

}  // namespace matador
