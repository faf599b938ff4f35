#include "api/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace matador {
namespace {

using testing::HasSubstr;

std::string fault(const std::string& text) {
  auto json = parse_json(text);
  return json.ok() ? "" : json.error().message;
}

TEST(Json, KeepsTheOrderOfKeys) {
  EXPECT_EQ(dump_json(*parse_json(R"({"b": 1, "a": [true, null, -2.5, "x"]})")),
            R"({"b":1,"a":[true,null,-2.5,"x"]})");
}

TEST(Json, RefusesWhatIsNotStrictJson) {
  for (auto text : {"", "hello", "{", "{:1}", "[1,]", "NaN", "[1] [2]", "{\"a\"}", "1e999",
                    "\"\xff\"", "\"\\ud800\"", "'a'"})
    EXPECT_THAT(fault(text), HasSubstr("not JSON")) << text;
  EXPECT_NE(fault(std::string(64, '\0')), "");
}

TEST(Json, RefusesADuplicateKeyAtAnyDepth) {
  EXPECT_THAT(fault(R"({"a": {"b": 1, "b": 2}})"), HasSubstr("\"b\" appears twice"));
  EXPECT_EQ(fault(R"({"a": {"b": 1}, "b": {"a": 1}})"), "");
}

TEST(Json, RefusesDeepNestingWithoutDeepRecursion) {
  EXPECT_EQ(fault(std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']')), "");
  EXPECT_THAT(fault(std::string(200'000, '[')), HasSubstr("nested deeper"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(fault(objects), HasSubstr("nested deeper"));
}

TEST(Json, BoundsTheNumberOfValues) {
  std::string text = "[";
  for (size_t i = 0; i <= kMaxJsonValues; ++i) text += "0,";
  EXPECT_THAT(fault(text), HasSubstr("more than"));
}

TEST(Json, PrintsBytesThatAreNotUtf8AsReplacementCharacters) {
  EXPECT_EQ(dump_json("a\xff"), "\"a\uFFFD\"");
}

}  // namespace
}  // namespace matador
