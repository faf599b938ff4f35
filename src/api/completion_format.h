// How a text completion prints: text_completion, the same object in streams.
// https://platform.openai.com/docs/api-reference/completions
#pragma once

#include <memory>
#include <optional>

#include "api/answer.h"

namespace matador {

struct CompletionFormatOptions {
  std::string model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::optional<int32_t> logprobs;
  bool include_usage = false;
};
std::unique_ptr<AnswerFormat> make_completion_format(CompletionFormatOptions options);

}  // namespace matador
