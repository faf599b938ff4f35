// What cannot be enforced is refused, by name; what is hostile costs little.
#include <gtest/gtest.h>

#include <sstream>

#include "read_vocab.h"
#include "text/grammar.h"

namespace matador {
namespace {

using Kind = GrammarSource::Kind;

const GrammarCompiler& compiler() {
  static const auto made = [] {
    auto tokenizer = Tokenizer::from_gguf(read_vocab("gpt2"));
    return *GrammarCompiler::make(**tokenizer);
  }();
  return *made;
}

std::string error_of(Kind kind, const std::string& source) {
  auto grammar = compiler().compile({kind, source});
  return grammar.ok() ? "" : grammar.error().message;
}

struct Refused {
  Kind kind;
  std::string source, message;
};

class GrammarErrors : public testing::TestWithParam<Refused> {};

TEST_P(GrammarErrors, SayWhatIsWrong) {
  std::string message = error_of(GetParam().kind, GetParam().source);
  EXPECT_NE(message.find(GetParam().message), std::string::npos)
      << GetParam().source << ": " << testing::PrintToString(message);
  EXPECT_NE(message, "");
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, GrammarErrors,
    testing::Values(
        Refused{Kind::json_schema, R"({"not": {}})", "#: the keyword 'not'"},
        Refused{Kind::json_schema, R"({"properties": {"a": {"if": true}}})",
                "#/properties/a: the keyword 'if'"},
        Refused{Kind::json_schema, R"({"items": {"uniqueItems": true}})", "'uniqueItems'"},
        Refused{Kind::json_schema, R"({"anyOf": [true, {"contains": {}}]})",
                "#/anyOf/1: the keyword 'contains'"},
        Refused{Kind::json_schema, R"({"$defs": {"a": {"dependentRequired": {}}}})",
                "'dependentRequired'"},
        Refused{Kind::json_schema, R"({"propertyNames": {}})", "'propertyNames'"},
        Refused{Kind::json_schema, R"({"unevaluatedProperties": false})",
                "'unevaluatedProperties'"},
        Refused{Kind::json_schema, R"({"nullable": true})", "'nullable'"},
        Refused{Kind::json_schema, R"({"x-guidance": {"lenient": true}})", "'x-guidance'"},
        Refused{Kind::json_schema, R"({"minlength": 3})", "'minlength'"},
        Refused{Kind::json_schema, R"({"type": "banana"})", "banana"},
        Refused{Kind::json_schema, R"({"type": 5})", "type"},
        Refused{Kind::json_schema, R"({"properties": 5})", "properties"},
        Refused{Kind::json_schema, R"({"properties": {"a": 5}})", "#/properties/a: expected"},
        Refused{Kind::json_schema, R"({"required": "a"})", "required"},
        Refused{Kind::json_schema, R"({"enum": 5})", "enum"},
        Refused{Kind::json_schema, R"({"enum": []})", ""},
        Refused{Kind::json_schema, R"({"minLength": "a", "type": "string"})", "minLength"},
        Refused{Kind::json_schema, R"({"format": "no-such", "type": "string"})", "no-such"},
        Refused{Kind::json_schema, R"({"type": "string", "pattern": "^(ab$"})", ""},
        Refused{Kind::json_schema, R"({"type": "string", "pattern": "^(?<=x)y$"})", ""},
        Refused{Kind::json_schema, R"({"type": "string", "pattern": "^(a)\\1$"})", ""},
        Refused{Kind::json_schema, R"({"$ref": "#/$defs/none"})", "none"},
        Refused{Kind::json_schema, R"({"$ref": "https://example.invalid/s.json"})", "example"},
        Refused{Kind::json_schema, R"({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"},
                                       "B": {"$ref": "#/$defs/A"}}})",
                ""},
        Refused{Kind::json_schema, R"({"type": "integer", "minimum": 5, "maximum": 3})", ""},
        Refused{Kind::json_schema, R"({"type": "string", "minLength": 5, "maxLength": 3})", ""},
        Refused{Kind::json_schema, R"({"type": "array", "minItems": 5, "maxItems": 3})", ""},
        Refused{Kind::json_schema, R"({"allOf": [{"type": "string"}, {"type": "integer"}]})", ""},
        Refused{Kind::json_schema, R"({"type": "object", "properties": {"a": false},
                                       "required": ["a"]})",
                ""},
        Refused{Kind::json_schema, R"({"oneOf": [{"type": "integer"}, {"minimum": 2}]})", "oneOf"},
        Refused{Kind::json_schema, "false", "false"}, Refused{Kind::json_schema, "5", "5"},
        Refused{Kind::json_schema, "{", ""}, Refused{Kind::json_schema, "", ""}));

INSTANTIATE_TEST_SUITE_P(
    Others, GrammarErrors,
    testing::Values(Refused{Kind::regex, "(a", ""}, Refused{Kind::regex, "a(?!b)", ""},
                    Refused{Kind::regex, "(a)\\1", ""}, Refused{Kind::regex, "", ""},
                    Refused{Kind::choice, "[]", "array of strings"},
                    Refused{Kind::choice, "[\"\"]", "no text"},
                    Refused{Kind::choice, "[1]", "array of strings"},
                    Refused{Kind::choice, "{}", "array of strings"},
                    Refused{Kind::lark_or_gbnf, "", ""},
                    Refused{Kind::lark_or_gbnf, "start: word", "word"},
                    Refused{Kind::lark_or_gbnf, "root ::= word", "'word' is not defined"},
                    Refused{Kind::lark_or_gbnf, "a ::= \"b\"", "'root'"},
                    Refused{Kind::lark_or_gbnf, "root ::= \"b", "line 1"},
                    Refused{Kind::lark_or_gbnf, "root ::= \"a\"\n ::= \"b\"", "line 2"},
                    Refused{Kind::lark_or_gbnf, "root ::= [z-a]", "range"},
                    Refused{Kind::lark_or_gbnf, "root ::= root", ""},
                    Refused{Kind::structural_tag, "{}", "structures"},
                    Refused{Kind::structural_tag, R"({"format": {"type": "x"}})", "'x'"},
                    Refused{Kind::structural_tag,
                            R"({"triggers": ["<"], "structures": [{"begin": "a", "schema": {},
                                "end": "b"}]})",
                            "triggers"},
                    Refused{Kind::structural_tag,
                            R"({"triggers": ["<"], "structures": [{"begin": "<",
                                "schema": {"not": {}}, "end": "b"}]})",
                            "structures[0]: #: the keyword 'not'"}));

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(GrammarErrors, DepthAndSizeAreBounded) {
  std::string open = repeated("(", 90000), close = repeated(")", 90000);
  EXPECT_NE(error_of(Kind::regex, open + "a" + close), "");
  EXPECT_NE(error_of(Kind::lark_or_gbnf, "start: " + open + "\"b\"" + close), "");
  EXPECT_NE(error_of(Kind::lark_or_gbnf, "root ::= " + open + "\"b\"" + close), "");
  EXPECT_NE(error_of(Kind::json_schema, repeated("{\"items\":", 5000) + "{}" + repeated("}", 5000)),
            "");
  EXPECT_NE(error_of(Kind::json_schema, R"({"pattern": ")" + open + close + "\"}"), "");
  EXPECT_NE(error_of(Kind::choice, "[\"" + std::string(1 << 20, 'a') + "\"]"), "");
}

// As deep as the bounds allow: the compiler's stack holds it.
TEST(GrammarErrors, TheDeepestAllowedCompileOrAreRefused) {
  std::string open = repeated("(", 1999), close = repeated(")", 1999);
  (void)error_of(Kind::lark_or_gbnf, "start: " + open + "\"b\"" + close);
  (void)error_of(Kind::lark_or_gbnf, "root ::= " + open + "\"b\"" + close);
  std::ostringstream lark, gbnf;
  lark << "start: T0\n";
  gbnf << "root ::= r0\n";
  for (int i = 0; i < 4000; ++i) {
    lark << "T" << i << ": \"a\" T" << i + 1 << "\n";
    gbnf << "r" << i << " ::= \"a\" r" << i + 1 << "\n";
  }
  lark << "T4000: \"b\"";
  gbnf << "r4000 ::= \"b\"";
  (void)error_of(Kind::lark_or_gbnf, lark.str());
  (void)error_of(Kind::lark_or_gbnf, gbnf.str());
}

}  // namespace
}  // namespace matador
