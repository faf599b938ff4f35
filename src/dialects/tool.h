// The functions that a request offers to the model, and what a message says in parts. Values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace matador {

struct Tool {
  std::string name;
  std::string parameters;  // the arguments' JSON Schema as text; "": an object of anything
};
using ToolSet = std::vector<Tool>;

// nullptr: no tool goes by this name.
const Tool* find_tool(const ToolSet& tools, std::string_view name);

// More of one call. The first of a call has its name; the arguments of all, joined, are JSON text
// (as the model wrote it, where nothing held it to the schema).
struct ToolCallDelta {
  int32_t index = 0;  // of the call in its message
  std::string name = {};
  std::string arguments = {};
};

// More of an assistant's message. At most one entry a call.
struct MessageDelta {
  std::string content = {};
  std::string reasoning = {};
  std::vector<ToolCallDelta> calls = {};

  bool empty() const { return content.empty() && reasoning.empty() && calls.empty(); }
};

}  // namespace matador
