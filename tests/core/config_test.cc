#include "core/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace matador {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Config parse(std::string_view json) { return Config::parse(json, "test.json").value(); }

std::string error_of(std::string_view json) {
  const Result<Config> config = Config::parse(json, "test.json");
  return config.ok() ? "" : config.error().message;
}

TEST(Config, ReadsEachKindOfValue) {
  const Config config = parse(
      R"({"layers": 3, "eps": 1e-5, "tied": true, "name": "x", "list": [1, 2], "names": ["a"]})");
  EXPECT_EQ(config.integer("layers"), 3);
  EXPECT_EQ(config.number("eps"), 1e-5);
  EXPECT_EQ(config.number("layers"), 3.0);
  EXPECT_EQ(config.boolean("tied"), true);
  EXPECT_EQ(config.text("name"), "x");
  EXPECT_THAT(*config.integers("list"), ElementsAre(1, 2));
  EXPECT_THAT(*config.numbers("list"), ElementsAre(1.0, 2.0));
  EXPECT_THAT(*config.texts("names"), ElementsAre("a"));
  EXPECT_THAT(config.keys(), ElementsAre("eps", "layers", "list", "name", "names", "tied"));
}

TEST(Config, GivesNothingForAnotherKindOfValue) {
  const Config config = parse(R"({"a": "1", "b": 1.5, "c": [1, "x"], "d": null, "e": {}})");
  EXPECT_FALSE(config.integer("a"));
  EXPECT_FALSE(config.integer("b"));
  EXPECT_FALSE(config.integers("c"));
  EXPECT_FALSE(config.has("d"));
  EXPECT_FALSE(config.text("e"));
  EXPECT_FALSE(config.object("a"));
  EXPECT_FALSE(config.boolean("missing"));
}

TEST(Config, TakesWholeFloatsAsIntegersAndRefusesWhatDoesNotFit) {
  const Config config = parse(R"({"a": 2048.0, "b": 1e300, "c": 18446744073709551615})");
  EXPECT_EQ(config.integer("a"), 2048);
  EXPECT_FALSE(config.integer("b"));
  EXPECT_FALSE(config.integer("c"));
}

TEST(Config, FollowsPaths) {
  const Config config = parse(R"({"rope": {"full": {"factor": 8}}, "q": {"model.layers.0": 4}})");
  EXPECT_EQ(config.integer("rope.full.factor"), 8);
  EXPECT_EQ(config.integer("q.model.layers.0"), 4);
  EXPECT_FALSE(config.has("rope.full.factor.more"));
  EXPECT_FALSE(config.has("rope..factor"));
  EXPECT_EQ(config.object("rope.full")->integer("factor"), 8);
  EXPECT_EQ(config.object("rope")->source(), "test.json: rope");
}

TEST(Config, FollowsPathsIntoLists) {
  const Config config = Config::parse(R"({"blocks": [{"width": 3}, null, [5]]})", "test").value();
  EXPECT_EQ(config.integer("blocks.0.width"), 3);
  EXPECT_EQ(config.integer("blocks.2.0"), 5);
  for (const char* path :
       {"blocks.1", "blocks.3", "blocks.x", "blocks.-1", "blocks.0x", "blocks."}) {
    EXPECT_FALSE(config.has(path)) << path;
  }
}

TEST(Config, SetsOnACopyLeaveTheOriginalAlone) {
  const Config original = parse(R"({"a": 1})");
  Config copy = original;
  copy.set("a", int64_t{2});
  copy.set("b", "text");
  copy.set("c", std::vector<double>{1.5});
  copy.set("d", original);
  EXPECT_EQ(original.dump(), R"({"a":1})");
  EXPECT_EQ(copy.dump(), R"({"a":2,"b":"text","c":[1.5],"d":{"a":1}})");
  EXPECT_EQ(copy.dump("d"), R"({"a":1})");
  EXPECT_EQ(copy.dump("missing"), "");
}

TEST(Config, DumpsTextThatIsNotUtf8) {
  Config config;
  config.set("a", std::string("x\xFFy"));
  EXPECT_EQ(config.dump(), "{\"a\":\"x\xEF\xBF\xBDy\"}");
}

TEST(Config, NamesTheSourceAndThePlaceOfAnError) {
  EXPECT_THAT(error_of("{\"a\": 1,\n \"b\" 2}"), HasSubstr("test.json"));
  EXPECT_THAT(error_of("{\"a\": 1,\n \"b\" 2}"), HasSubstr("line 2"));
  EXPECT_THAT(error_of("[1, 2]"), HasSubstr("found a JSON array, expected an object"));
  EXPECT_THAT(error_of(""), HasSubstr("test.json"));
  EXPECT_THAT(error_of("{\"a\": \"\xFF\"}"), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of("{\"a\": 1e999}"), HasSubstr("test.json"));
}

TEST(Config, RefusesDeepNesting) {
  const std::string deep = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_THAT(error_of(deep), HasSubstr("nested deeper than 64 levels"));
  EXPECT_EQ(error_of("{\"a\":" + std::string(63, '[') + std::string(63, ']') + "}"), "");
}

TEST(Config, RefusesHugeTexts) {
  EXPECT_THAT(error_of("{\"a\": \"" + std::string(17 << 20, 'x') + "\"}"),
              HasSubstr("expected at most 16777216"));
}

TEST(Config, ReportsAMissingFileAsNotFound) {
  const Result<Config> config = Config::read("/nowhere/config.json");
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().code, ErrorCode::not_found);
  EXPECT_THAT(config.error().message, HasSubstr("/nowhere/config.json"));
}

}  // namespace
}  // namespace matador
