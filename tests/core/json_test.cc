#include "core/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace matador {
namespace {

using testing::HasSubstr;

TEST(Json, TakesTheLastOfRepeatedKeysUnlessTheyMustBeUnique) {
  const char* text = R"({"a": 1, "b": {"a": 2}, "a": 3})";
  EXPECT_EQ(parse_json(text, "x").value()["a"], 3);
  const auto strict = parse_json(text, "x", {.unique_keys = true});
  ASSERT_FALSE(strict.ok());
  EXPECT_THAT(strict.error().message, HasSubstr("x: key \"a\" appears twice"));
}

TEST(Json, AllowsEqualKeysInDifferentObjects) {
  EXPECT_TRUE(parse_json(R"({"a": {"k": 1}, "b": {"k": {"k": 1}}})", "x", {.unique_keys = true}));
}

TEST(Json, RefusesMoreBytesThanTheLimit) {
  EXPECT_TRUE(parse_json("[1]", "x", {.bytes = 3}).ok());
  EXPECT_FALSE(parse_json("[1] ", "x", {.bytes = 3}).ok());
}

TEST(Json, RefusesTrailingText) { EXPECT_FALSE(parse_json("{} {}", "x").ok()); }

}  // namespace
}  // namespace matador
