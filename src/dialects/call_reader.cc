#include "dialects/call_reader.h"

#include <algorithm>
#include <cctype>

namespace matador {

void CallOutput::begin(std::string name) {
  delta_.calls.push_back({.index = num_calls_++, .name = std::move(name)});
  in_call_ = true;
}

void CallOutput::append(std::string_view arguments) {
  if (!arguments.empty()) last().arguments += arguments;
}

ToolCallDelta& CallOutput::last() {
  const int32_t index = num_calls_ - 1;
  if (delta_.calls.empty() || delta_.calls.back().index != index)
    delta_.calls.push_back({.index = index});
  return delta_.calls.back();
}

bool is_call_name(std::string_view name) {
  constexpr size_t kLongest = 128;
  constexpr std::string_view kMarks = "_-.:/";
  return !name.empty() && name.size() <= kLongest &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  kMarks.find(c) != std::string_view::npos;
         });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_json_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_json_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace matador
