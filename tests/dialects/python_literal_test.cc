#include "dialects/python_literal.h"

#include <gtest/gtest.h>

namespace matador {
namespace {

TEST(PythonLiteral, BecomesJson) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "1"},
      {"-1.5e3", "-1.5e3"},
      {"True", "true"},
      {"None", "null"},
      {"false", "false"},
      {"'a'", R"("a")"},
      {R"("it's")", R"("it's")"},
      {R"('say "hi"')", R"("say \"hi\"")"},
      {R"('a\nb\\\'')", R"("a\nb\\'")"},
      {R"('\x41\u00e9\U0001F600')", "\"A\u00e9\U0001F600\""},
      {R"("\ud83d\ude00")", "\"\U0001F600\""},
      {"[1, 'a', [True]]", R"([1, "a", [true]])"},
      {"(1, 2,)", "[1, 2]"},
      {"{'a': {'b': None}, 2: []}", R"({"a": {"b": null}, "2": []})"},
      {"{}", "{}"},
      {"x + 1", R"("x + 1")"},
      {"'open", R"("'open")"},
      {"[1", R"("[1")"},
      {"", R"("")"},
  };
  for (auto [python, json] : cases) EXPECT_EQ(python_literal_to_json(python), json) << python;
}

TEST(PythonLiteral, OfGreatDepthIsText) {
  const std::string deep = std::string(100'000, '[');
  EXPECT_EQ(python_literal_to_json(deep), '"' + deep + '"');
}

}  // namespace
}  // namespace matador
