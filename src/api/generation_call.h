// From what a request says to a Call. Internal to this room.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/answer.h"
#include "api/call.h"
#include "api/generation.h"

namespace matador {

// What the shared fields say about the answer.
AnswerOptions answer_options(const Generation& generation, const ApiModel& model);

struct AnswerPlan {
  AnswerOptions options;
  std::vector<std::string> echoes;  // one a prompt, or none
  std::unique_ptr<AnswerFormat> format;
};
// One engine request a prompt, each with the generation's parameters.
ApiResult<Call> make_call(const Generation& generation, std::vector<std::vector<int32_t>> prompts,
                          const ApiModel& model, AnswerPlan plan);

}  // namespace matador
