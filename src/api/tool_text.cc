#include "api/tool_text.h"

#include <utility>

namespace matador {
namespace {

// Content is text, or a list with one part that has it.
void append_text(Json& message, const std::string& text) {
  Json& content = message["content"];
  Json& whole = content.is_array() && !content.empty() ? content[0]["text"] : content;
  std::string joined = whole.is_string() ? whole.get<std::string>() : "";
  if (!joined.empty()) joined += "\n\n";
  whole = joined + text;
}

Json message_of(const char* role) { return {{"role", role}, {"content", ""}}; }

std::string text_of(const Json& message) {
  const Json& content = message["content"];
  if (content.is_string()) return content.get<std::string>();
  return content.is_array() && !content.empty() ? content[0]["text"].get<std::string>() : "";
}

std::string written(const CallFormat& format,
                    const std::vector<std::pair<std::string, Json>>& calls) {
  std::string text(format.written.begin);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i > 0) text += format.written.separator;
    text += write_call(format, calls[i].first, dump_json(calls[i].second));
  }
  return text.append(format.written.end);
}

}  // namespace

void describe_tools(const Json& tools, const CallFormat& format, Json& messages) {
  std::string text = "You can call these functions:\n";
  for (const Json& tool : tools) text.append("\n").append(dump_json(tool["function"]));
  text +=
      "\n\nTo call functions, answer with nothing but their names and arguments, in this form:\n";
  text += written(format, {{"NAME", {{"ARGUMENT", "VALUE"}}}});
  const Json& role = messages[0]["role"];
  if (role != "system" && role != "developer")
    messages.insert(messages.begin(), message_of("system"));
  append_text(messages[0], text);
}

void write_calls_as_text(const CallFormat& format, Json& messages) {
  Json changed = Json::array();
  bool after_result = false;
  for (Json& message : messages) {
    const bool is_result = message["role"] == "tool";
    if (message.contains("tool_calls")) {
      std::vector<std::pair<std::string, Json>> calls;
      for (const Json& call : message["tool_calls"])
        calls.emplace_back(call["function"]["name"], call["function"]["arguments"]);
      message.erase("tool_calls");
      append_text(message, written(format, calls));
    }
    if (is_result) {
      // Several results are one turn, since many templates want turns to alternate.
      std::string text = "<tool_response>\n";
      text.append(text_of(message)).append("\n</tool_response>");
      if (!after_result) changed.push_back(message_of("user"));
      append_text(changed.back(), text);
    } else {
      changed.push_back(std::move(message));
    }
    after_result = is_result;
  }
  messages = std::move(changed);
}

}  // namespace matador
