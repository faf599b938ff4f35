#include "dialects/format.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "dialects/message_parser.h"

namespace matador {
namespace {

// Excerpts of published templates, each enough to tell its family.
TEST(Formats, AreDetectedByTheChatTemplate) {
  std::ifstream in(MATADOR_TEST_DATA "/chat_template_families.json");
  for (const auto& row : nlohmann::json::parse(in)) {
    const std::string source = row["template"];
    EXPECT_EQ(detect_call_format(source)->name, row["calls"].get<std::string>()) << row["family"];
    const ReasoningFormat* reasoning = detect_reasoning_format(source);
    EXPECT_EQ(reasoning ? reasoning->name : "", row["reasoning"].get<std::string>())
        << row["family"];
  }
}

// What a model is told to write, or held to, is what the parser reads.
TEST(Formats, ReadTheCallsThatTheyWrite) {
  const std::string arguments = R"({"text":"a \"b\"","count":2})";
  auto tools = std::make_shared<ToolSet>(ToolSet{
      {"f", R"({"properties": {"text": {"type": "string"}, "count": {"type": "integer"}}})"}});
  for (const CallFormat* format : call_formats()) {
    SCOPED_TRACE(format->name);
    const WrittenCalls& written = format->written;
    std::string text(written.begin);
    text += write_call(*format, "f", arguments);
    text.append(written.separator).append(write_call(*format, "f", "{}")).append(written.end);
    MessageParser parser({.calls = format, .tools = tools});
    MessageDelta delta = parser.push(text);
    const MessageDelta rest = parser.finish();
    EXPECT_EQ(delta.content + rest.content, "");
    ASSERT_EQ(delta.calls.size(), 2u);
    EXPECT_EQ(delta.calls[0].name, "f");
    EXPECT_EQ(nlohmann::json::parse(delta.calls[0].arguments), nlohmann::json::parse(arguments));
    EXPECT_EQ(delta.calls[1].arguments, "{}");
  }
}

TEST(Formats, AreFoundByName) {
  EXPECT_EQ((*find_call_format("hermes"))->name, "hermes");
  auto unknown = find_call_format("nothing");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("hermes"), std::string::npos);
  EXPECT_FALSE(find_reasoning_format("").ok());
}

}  // namespace
}  // namespace matador
