// How a chat completion prints: chat.completion and chat.completion.chunk.
// https://platform.openai.com/docs/api-reference/chat
#pragma once

#include <memory>

#include "api/answer.h"
#include "api/call_ids.h"

namespace matador {

struct ChatFormatOptions {
  std::string model;
  std::shared_ptr<const Tokenizer> tokenizer;
  bool logprobs = false;
  int32_t top_logprobs = 0;
  bool include_usage = false;
  CallIdMaker call_ids = CallIdMaker();
  bool function_call = false;  // a call is printed as the deprecated function_call
};
std::unique_ptr<AnswerFormat> make_chat_format(ChatFormatOptions options);

}  // namespace matador
