// The tools of a chat request: what may be called, and what must be. Internal to this room.
// https://platform.openai.com/docs/guides/function-calling
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/api_model.h"
#include "api/json.h"
#include "dialects/tool.h"

namespace matador {

class FieldReader;

inline constexpr size_t kMaxTools = 1024;

enum class ToolChoice : uint8_t {
  none,       // nothing is a call
  automatic,  // the model decides
  required,   // one call at least
  named,      // one call of one function
};

struct ToolRequest {
  Json shown = Json::array();  // OpenAI's objects, as the chat template gets them
  // What may be called: all of them, those of allowed_tools, or the named one.
  std::shared_ptr<const ToolSet> callable = std::make_shared<ToolSet>();
  ToolChoice choice = ToolChoice::none;
  bool parallel = true;     // several calls in one message
  bool deprecated = false;  // asked for by `functions`: the answer has function_call
};

// tools, tool_choice and parallel_tool_calls, or the deprecated functions and function_call; the
// first fault stays in `fields`.
ToolRequest read_tools(FieldReader& fields);

// The prompt has the tools: they may be called, and their description is not left to the caller.
bool shows_tools(const ToolRequest& tools, const ApiModel& model);

}  // namespace matador
