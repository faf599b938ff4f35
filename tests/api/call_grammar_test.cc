// The grammars of calls, run: what a format writes is accepted, and what breaks a schema is not.
#include "dialects/call_grammar.h"

#include <gtest/gtest.h>

#include "support/tiny_served_model.h"
#include "text/grammar.h"

namespace matador {
namespace {

constexpr char kArguments[] = R"({"city": "Paris", "unit": "C", "days": 3})";

class CallGrammars : public testing::Test {
 protected:
  // As much of `text` as the grammar accepts; with a '.' behind it where the text may end there.
  std::string accepted(const CallGrammar& grammar, const std::string& text) {
    auto source = write_call_grammar(grammar);
    EXPECT_TRUE(source.ok()) << source.error().message;
    auto compiled = compiler_->compile({GrammarSource::Kind::lark_or_gbnf, *source});
    EXPECT_TRUE(compiled.ok()) << compiled.error().message << "\n" << *source;
    if (!compiled.ok()) return "";
    auto state = (*compiled)->start();
    std::vector<uint32_t> mask((kTinyVocabSize + 31) / 32);
    for (size_t i = 0; i <= text.size(); ++i) {
      auto may_end = state->fill_mask(mask);
      EXPECT_TRUE(may_end.ok()) << may_end.error().message;
      if (i == text.size()) return text + (*may_end ? "." : "");
      const auto token = static_cast<uint8_t>(text[i]);
      if ((mask[token / 32] >> (token % 32) & 1) == 0) return text.substr(0, i);
      EXPECT_TRUE(state->accept(token).ok());
    }
    return text;
  }
  static std::string written(const CallFormat& format) {
    std::string text(format.written.begin);
    text += write_call(format, "get_weather", kArguments);
    text.append(format.written.separator).append(write_call(format, "now", "{}"));
    return text.append(format.written.end);
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  }
  CallGrammar grammar(const CallFormat& format, bool forced) const {
    CallGrammar made;
    made.calls = &format;
    made.tools = &tools_;
    made.forced = forced;
    return made;
  }

  const ToolSet tools_ = {
      {"get_weather",
       R"({"type": "object", "properties": {"city": {"type": "string", "maxLength": 8},
           "unit": {"type": "string", "enum": ["C", "F"]}, "days": {"type": "integer"}},
           "required": ["city"]})"},
      {"now", ""}};
  std::shared_ptr<const GrammarCompiler> compiler_ = *GrammarCompiler::make(*byte_tokenizer());
};

TEST_F(CallGrammars, HoldEachFormatToItsSchemas) {
  for (const CallFormat* format : call_formats()) {
    SCOPED_TRACE(format->name);
    const std::string text = written(*format);
    for (bool forced : {true, false}) {
      if (!forced && !format->structural.empty()) continue;
      const CallGrammar rules = grammar(*format, forced);
      EXPECT_EQ(accepted(rules, text), text + ".");
      for (const auto& bad :
           {replaced(text, "get_weather", "get_wealth"), replaced(text, "Paris", "Constantinople"),
            replaced(text, "3", "x"), replaced(text, "city", "town")})
        EXPECT_LT(accepted(rules, bad).size(), bad.size()) << bad;
    }
    EXPECT_EQ(accepted(grammar(*format, true), "Hello"), "");
  }
}

TEST_F(CallGrammars, LeaveTextWithoutCallsAlone) {
  const std::string text = "Hello {world} [x] <tool";
  for (const CallFormat* format : call_formats()) {
    if (!format->structural.empty()) {
      EXPECT_EQ(*write_call_grammar(grammar(*format, false)), "");
      continue;
    }
    EXPECT_EQ(accepted(grammar(*format, false), text), text + ".") << format->name;
  }
}

TEST_F(CallGrammars, AllowOneCallAtMostWhereThatIsAsked) {
  for (const CallFormat* format : call_formats()) {
    CallGrammar rules = grammar(*format, true);
    rules.parallel = false;
    const std::string text = written(*format);
    EXPECT_LT(accepted(rules, text).size(), text.size()) << format->name;
    std::string one(format->written.begin);
    one.append(write_call(*format, "now", "{}")).append(format->written.end);
    EXPECT_EQ(accepted(rules, one), one + ".") << format->name;
  }
}

TEST_F(CallGrammars, LetTheModelThinkFirst) {
  const std::string thoughts = "hm <x> {\n</think>\n\n";
  for (const CallFormat* format : call_formats()) {
    for (bool forced : {true, false}) {
      CallGrammar rules = grammar(*format, forced);
      rules.reasoning = *find_reasoning_format("think");
      if (!forced && !format->structural.empty()) continue;
      const std::string text = written(*format);
      EXPECT_EQ(accepted(rules, "<think>" + thoughts + text), "<think>" + thoughts + text + ".");
      rules.reasoning_open = true;
      EXPECT_EQ(accepted(rules, thoughts + text), thoughts + text + ".") << format->name;
      if (forced) {
        EXPECT_NE(accepted(rules, text), text + ".") << format->name;
      }
    }
  }
}

// Words in a description, or in a value, are not read as grammar.
TEST_F(CallGrammars, DoNotDependOnWords) {
  const std::string words = R"(Use `a|b` \"c\" \\ ::= root \n((([[[{{{ </tool_call> %json /x/)";
  for (const CallFormat* format : call_formats()) {
    const ToolSet tools = {
        {"f", R"({"type": "object", "description": ")" + words +
                  R"(", "properties": {"description": {"type": "string", "default": ")" + words +
                  R"(", "enum": ["x ::= y", "(z"]}}, "required": ["description"]})"}};
    CallGrammar rules = grammar(*format, true);
    rules.tools = &tools;
    std::string text(format->written.begin);
    text += write_call(*format, "f", R"({"description": "x ::= y"})");
    text += format->written.end;
    EXPECT_EQ(accepted(rules, text), text + ".") << format->name;
  }
}

TEST_F(CallGrammars, TakeMarksThatAreTokensForTokens) {
  CallGrammar rules = grammar(**find_call_format("mistral"), true);
  rules.mark_tokens = {{"[TOOL_CALLS]", 300}, {"[ARGS]", 301}};
  auto source = write_call_grammar(rules);
  ASSERT_TRUE(source.ok());
  EXPECT_TRUE(source->starts_with("start: <[300]> ")) << *source;
  EXPECT_NE(source->find("\"now\" <[301]> "), std::string::npos) << *source;
}

TEST_F(CallGrammars, RefuseWhatArgumentsOneByOneCannotExpress) {
  const ToolSet tools = {{"f", R"({"type": "object", "anyOf": [{"required": ["a"]}]})"}};
  CallGrammar rules = grammar(**find_call_format("qwen3_coder"), true);
  rules.tools = &tools;
  auto source = write_call_grammar(rules);
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().message.find("anyOf"), std::string::npos);
}

}  // namespace
}  // namespace matador
