#include "dialects/json_scanner.h"

#include <gtest/gtest.h>

namespace matador {
namespace {

using State = JsonScanner::State;

TEST(JsonScanner, FindsWhereAValueEnds) {
  for (std::string value : {"{}", "[1, {\"a\": \"}\"}]", R"("a\"b")", R"({"a": "\\"})"}) {
    JsonScanner scanner;
    for (size_t i = 0; i + 1 < value.size(); ++i) EXPECT_EQ(scanner.feed(value[i]), State::inside);
    EXPECT_EQ(scanner.feed(value.back()), State::ended) << value;
  }
  for (char after : {',', '}', ']', ' '}) {
    JsonScanner scanner;
    for (char c : std::string("-12")) EXPECT_EQ(scanner.feed(c), State::inside);
    EXPECT_EQ(scanner.feed(after), State::ended_before);
  }
}

TEST(JsonScanner, EscapesWhatAStringCannotHold) {
  std::string out;
  for (char c : std::string("a\"\\\n\x01é")) append_escaped(out, c);
  EXPECT_EQ(out, R"(a\"\\\n\u0001é)");
}

}  // namespace
}  // namespace matador
