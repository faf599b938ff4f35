// The messages of a chat request and the prompt that the model's template makes of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/api_model.h"
#include "api/json.h"

namespace matador {

class FieldReader;

struct ChatPrompt {
  Json messages = Json::array();
  Json tools = Json::array();  // shown to the model
  Json template_kwargs = Json::object();
  bool add_generation_prompt = true;
  bool continue_final_message = false;
  bool add_special_tokens = false;  // most templates write BOS themselves
};

// messages, add_generation_prompt, continue_final_message, add_special_tokens and
// chat_template_kwargs; the first fault stays in `fields`.
ChatPrompt read_chat_prompt(FieldReader& fields, const ControlTokens& control_tokens);

struct EncodedPrompt {
  std::vector<int32_t> ids;
  bool opens_reasoning = false;  // the answer begins inside the model's reasoning
};
// Renders and tokenises. Control-token spellings in messages and tools stay text unless the model
// was configured otherwise. A template that knows no tools has them, and calls, as text.
ApiResult<EncodedPrompt> encode_chat_prompt(ChatPrompt prompt, const ApiModel& model);

// The text of the last message, if it is the assistant's; else "".
std::string final_assistant_text(const ChatPrompt& prompt);

}  // namespace matador
