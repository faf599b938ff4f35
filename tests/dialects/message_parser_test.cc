// Every format over tests/data/tool_calls/FORMAT.json: a text, cut in every way, and its parts.
#include "dialects/message_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

namespace matador {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Message {
  std::string content, reasoning;
  std::vector<std::pair<std::string, std::string>> calls;

  bool operator==(const Message&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Message& m) {
  out << "content \"" << m.content << "\", reasoning \"" << m.reasoning << "\"";
  for (const auto& [name, arguments] : m.calls) out << ", " << name << "(" << arguments << ")";
  return out;
}

void add(Message& message, const MessageDelta& delta) {
  message.content += delta.content;
  message.reasoning += delta.reasoning;
  for (const ToolCallDelta& call : delta.calls) {
    const auto index = static_cast<size_t>(call.index);
    if (index == message.calls.size()) {
      EXPECT_FALSE(call.name.empty()) << "a call begins without a name";
      message.calls.emplace_back();
    } else {
      EXPECT_EQ(index + 1, message.calls.size()) << "an earlier call goes on";
      EXPECT_TRUE(call.name.empty()) << "a name comes twice";
    }
    message.calls.back().first += call.name;
    message.calls.back().second += call.arguments;
  }
}

// `cuts`: where the text is cut, ascending.
Message parse(const MessageSyntax& syntax, std::string_view text, const std::set<size_t>& cuts) {
  MessageParser parser(syntax);
  Message message;
  size_t begin = 0;
  for (size_t cut : cuts) {
    add(message, parser.push(text.substr(begin, cut - begin)));
    begin = cut;
  }
  add(message, parser.push(text.substr(begin)));
  add(message, parser.finish());
  return message;
}

MessageSyntax syntax_of(const Json& file, const Json& test) {
  MessageSyntax syntax;
  auto name = [&](const char* key) {
    return test.contains(key) ? test[key].get<std::string>() : file.value(key, "");
  };
  if (auto format = name("format"); !format.empty()) syntax.calls = *find_call_format(format);
  if (auto format = name("reasoning_format"); !format.empty())
    syntax.reasoning = *find_reasoning_format(format);
  syntax.reasoning_open = test.value("reasoning_open", false);
  auto tools = std::make_shared<ToolSet>();
  for (const Json& tool : file["tools"])
    tools->push_back({tool["name"], tool.contains("parameters") ? tool["parameters"].dump() : ""});
  syntax.tools = tools;
  return syntax;
}

Message expected(const Json& test) {
  Message message{test.value("content", ""), test.value("reasoning", ""), {}};
  if (test.contains("calls"))
    for (const Json& call : test["calls"]) message.calls.emplace_back(call[0], call[1]);
  return message;
}

void check(const MessageSyntax& syntax, const std::string& text, const Message& want) {
  ASSERT_EQ(parse(syntax, text, {}), want);
  std::set<size_t> everywhere;
  for (size_t i = 1; i < text.size(); ++i) {
    everywhere.insert(i);
    ASSERT_EQ(parse(syntax, text, {i}), want) << "cut at " << i;
  }
  ASSERT_EQ(parse(syntax, text, everywhere), want) << "byte by byte";
  std::mt19937 random(text.size());
  for (int round = 0; round < 50; ++round) {
    std::set<size_t> cuts;
    for (size_t i = 1; i < text.size(); ++i)
      if (random() % 4 == 0) cuts.insert(i);
    ASSERT_EQ(parse(syntax, text, cuts), want);
  }
}

TEST(MessageParser, ReadsEachFormatHoweverItsTextIsCut) {
  std::set<std::string> tested_calls, tested_reasoning;
  for (const auto& entry : fs::directory_iterator(MATADOR_TEST_DATA "/tool_calls")) {
    const Json file = Json::parse(std::ifstream(entry.path()));
    for (const Json& test : file["cases"]) {
      SCOPED_TRACE(entry.path().stem().string() + ": " + test["name"].get<std::string>());
      const MessageSyntax syntax = syntax_of(file, test);
      if (syntax.calls) tested_calls.emplace(syntax.calls->name);
      if (syntax.reasoning) tested_reasoning.emplace(syntax.reasoning->name);
      check(syntax, test["text"], expected(test));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  for (const CallFormat* format : call_formats())
    EXPECT_EQ(tested_calls.count(std::string(format->name)), 1u) << format->name;
  for (const ReasoningFormat* format : reasoning_formats())
    EXPECT_EQ(tested_reasoning.count(std::string(format->name)), 1u) << format->name;
}

// Pieces of all formats, in any order: whatever comes of them, it is the same however it is cut.
TEST(MessageParser, GivesTheSamePartsOfNonsenseHoweverItIsCut) {
  for (const CallFormat* format : call_formats()) {
    std::vector<std::string> pieces = {"{",
                                       "}",
                                       "[",
                                       "]",
                                       "\"name\": \"f\"",
                                       "\"",
                                       ", ",
                                       ": ",
                                       "\"arguments\": {\"a\": 1}",
                                       " ",
                                       "\n",
                                       "f(a=1)",
                                       "x",
                                       "<"};
    for (const auto& opening : format->openings) pieces.emplace_back(opening.mark);
    for (auto mark : format->silent) pieces.emplace_back(mark);
    for (auto mark : format->inside) pieces.emplace_back(mark);
    pieces.insert(pieces.end(), {"<think>", "</think>", "f>", "<parameter=a>", "</parameter>"});
    MessageSyntax syntax{.calls = format, .reasoning = *find_reasoning_format("think")};
    syntax.tools = std::make_shared<ToolSet>(ToolSet{{"f", ""}});
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
      std::string text;
      for (int i = 0; i < 12; ++i) text += pieces[random() % pieces.size()];
      std::set<size_t> everywhere;
      for (size_t i = 1; i < text.size(); ++i) everywhere.insert(i);
      ASSERT_EQ(parse(syntax, text, everywhere), parse(syntax, text, {}))
          << format->name << ": " << text;
    }
  }
}

TEST(MessageParser, LosesNothingOfATextWithoutCalls) {
  const std::string text = "  {\"a\": [1, 2]} <tool_call but not one> </think> `[x](y)` \n\n";
  for (const CallFormat* format : call_formats())
    EXPECT_EQ(parse({.calls = format}, text, {}).content, text) << format->name;
}

TEST(MessageParser, SendsArgumentsAsTheyGrow) {
  MessageSyntax syntax{.calls = *find_call_format("hermes")};
  MessageParser parser(syntax);
  EXPECT_TRUE(parser.push("<tool_call>{\"name\": \"f\", ").empty());
  EXPECT_EQ(parser.push("\"arguments\": {\"a").calls[0].arguments, "{\"a");
  EXPECT_EQ(parser.push("\": 1").calls[0].arguments, "\": 1");
}

TEST(MessageParser, TellsWhetherItReasons) {
  MessageParser parser({.reasoning = *find_reasoning_format("think"), .reasoning_open = true});
  EXPECT_TRUE(parser.in_reasoning());
  EXPECT_EQ(parser.push("so</think>").reasoning, "so");
  EXPECT_FALSE(parser.in_reasoning());
}

}  // namespace
}  // namespace matador
