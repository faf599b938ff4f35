#include "dialects/argument_types.h"

#include <gtest/gtest.h>

namespace matador {
namespace {

TEST(ArgumentTypes, FollowTheSchema) {
  const ArgumentTypes types(R"({"$defs": {"id": {"type": "string"}}, "properties": {
      "text": {"type": "string"}, "count": {"type": "integer"}, "on": {"type": "boolean"},
      "choice": {"enum": ["1", "2"]}, "ref": {"$ref": "#/$defs/id"},
      "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "list": {"type": "array"}}})");
  for (auto name : {"text", "choice", "ref"}) EXPECT_TRUE(types.of(name).only_text()) << name;
  EXPECT_EQ(types.of("count").json_of(" 7 "), "7");
  EXPECT_EQ(types.of("count").json_of("seven"), "\"seven\"");
  EXPECT_EQ(types.of("on").json_of("True"), "true");
  EXPECT_EQ(types.of("maybe").json_of("7"), "\"7\"");
  EXPECT_EQ(types.of("maybe").json_of("null"), "null");
  EXPECT_EQ(types.of("list").json_of("[1, 2]"), "[1, 2]");
  EXPECT_EQ(types.of("unknown").json_of("[1]"), "[1]");
  EXPECT_EQ(types.of("unknown").json_of("a b"), "\"a b\"");
}

TEST(ArgumentTypes, SayNothingWhereTheSchemaDoesNot) {
  for (auto schema : {"", "5", "[]", "{}", R"({"properties": 1})", R"({"properties": {"a": 1}})",
                      R"({"properties": {"a": {"$ref": "#/properties/a"}}})"})
    EXPECT_EQ(ArgumentTypes(schema).of("a").json_of("1"), "1") << schema;
}

}  // namespace
}  // namespace matador
