// Calls with each argument between tags: <function=NAME><parameter=KEY>VALUE</parameter>...
#pragma once

#include <memory>
#include <string>

#include "dialects/call_reader.h"

namespace matador {

// A value is a string unless the tool's schema says otherwise, or says nothing and it is JSON.
struct TaggedCalls {
  // The name goes up to one of these characters; what follows up to the first tag is skipped.
  std::string name_ends;
  std::string key_begin;  // "<parameter="
  std::string key_end;    // ">"; what follows a quote or a tag in the key is not part of it
  std::string value_end;  // "</parameter>"
  std::string call_end;   // "</function>"
  // Of the line breaks around a value one on each side is the format's.
  bool trims_lines = false;
};
std::shared_ptr<const CallSyntax> tagged_calls(TaggedCalls tags);

}  // namespace matador
