// Calls as JSON: {"name": ..., "arguments": {...}}, one object or a list of them.
#pragma once

#include <memory>

#include "dialects/call_reader.h"

namespace matador {

// Which objects count as calls.
enum class JsonCallNames : uint8_t {
  any,      // a mark in front has said that a call follows
  offered,  // nothing has: an object is a call only if it names one of the tools
};

// The name may be under "name", "tool_name" or "function", the arguments under "arguments" or
// "parameters", in any order and within a "function" object as OpenAI writes them. Arguments that
// are JSON text in a string are unwrapped.
std::shared_ptr<const CallSyntax> json_calls(JsonCallNames names = JsonCallNames::any);

}  // namespace matador
