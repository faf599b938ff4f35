// Python literals as JSON.
#pragma once

#include <string>
#include <string_view>

namespace matador {

// Strings, numbers, True, False, None (and JSON's spellings of them), lists, tuples and dicts.
// What is none of these becomes a string of its own text.
std::string python_literal_to_json(std::string_view text);

}  // namespace matador
