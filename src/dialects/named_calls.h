// Calls as a header that names the function and an object of arguments: NAME[ARGS]{...}.
#pragma once

#include <memory>
#include <string>

#include "dialects/call_reader.h"

namespace matador {

// The name in all that stands before the arguments' brace; "": this is no call.
using NameOfHeader = std::string (*)(std::string_view header);

std::shared_ptr<const CallSyntax> named_calls(NameOfHeader name_of);
// The same where a list of JSON calls may stand in its place.
std::shared_ptr<const CallSyntax> named_or_json_calls(NameOfHeader name_of);

// The text up to `mark`, trimmed; all of it where there is none.
std::string text_before(std::string_view text, std::string_view mark);

}  // namespace matador
