#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dialects/message_parser.h"

namespace {

using matador::MessageDelta;

// Everything that was given, in an order that cuts cannot change.
struct Parts {
  std::string content, reasoning, calls;

  void add(const MessageDelta& delta) {
    content += delta.content;
    reasoning += delta.reasoning;
    for (const matador::ToolCallDelta& call : delta.calls)
      calls += (call.name.empty() ? "" : "\n" + call.name + ":") + call.arguments;
  }
  bool operator==(const Parts&) const = default;
};

Parts parse(const matador::MessageSyntax& syntax, std::string_view text, size_t step) {
  matador::MessageParser parser(syntax);
  Parts parts;
  for (size_t i = 0; i < text.size(); i += step) parts.add(parser.push(text.substr(i, step)));
  parts.add(parser.finish());
  return parts;
}

}  // namespace

// Any text of any format: the parts do not depend on how it was cut. The first byte picks the
// format, the second the reasoning.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto calls = matador::call_formats();
  const auto reasoning = matador::reasoning_formats();
  matador::MessageSyntax syntax;
  syntax.calls = calls[data[0] % calls.size()];
  syntax.reasoning = reasoning[data[1] % reasoning.size()];
  syntax.reasoning_open = data[1] >= 128;
  syntax.tools = std::make_shared<matador::ToolSet>(
      matador::ToolSet{{"f", R"({"properties": {"a": {"type": "string"}}})"}});
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Parts whole = parse(syntax, text, text.size() + 1);
  if (!(parse(syntax, text, 1) == whole) || !(parse(syntax, text, 3) == whole)) __builtin_trap();
  return 0;
}
