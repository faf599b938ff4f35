// Rotary frequencies of configs of real size, as transformers has them
// (tools/make_rope_goldens.py).
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "models/rope_config.h"

namespace matador {
namespace {

TEST(RopeConfig, GivesTheFrequenciesOfTransformers) {
  std::ifstream file(std::string(MATADOR_TEST_DATA) + "/rope.json");
  for (const nlohmann::json& golden : nlohmann::json::parse(file)) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    ConfigReader reader(Config::parse(golden["config"].dump(), "test").value());
    const Rope rope = read_rope(reader, reader.count("head_dim"));
    ASSERT_TRUE(reader.status().ok()) << reader.status().error().message;
    EXPECT_NEAR(rope.attention_factor, golden["attention_factor"].get<double>(), 1e-6);
    const std::vector<float> frequencies = rope.frequencies(golden["length"]);
    const auto expected = golden["frequencies"].get<std::vector<double>>();
    ASSERT_EQ(frequencies.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      // transformers' own rounding to float32, which YaRN's ramp magnifies where it nears its end.
      EXPECT_NEAR(frequencies[i], expected[i], 5e-6 * expected[i]) << i;
    }
  }
}

TEST(RopeConfig, PrefersTheKeysThatTransformersPrefers) {
  ConfigReader reader(Config::parse(R"({"max_position_embeddings": 64, "rope_theta": 100.0,
      "original_max_position_embeddings": 32,
      "rope_parameters": {"rope_type": "yarn", "rope_theta": 200.0, "factor": 2.0,
                          "original_max_position_embeddings": 16, "type": "linear"}})",
                                    "test")
                          .value());
  const Rope rope = read_rope(reader, 8);
  EXPECT_EQ(rope.scaling, Rope::Scaling::yarn);
  EXPECT_EQ(rope.theta, 200);
  EXPECT_EQ(rope.original_max_position, 32);
}

TEST(RopeConfig, ScalingsThatStretchTheTrainedContextExtendIt) {
  Rope rope{.dim = 8, .factor = 4, .original_max_position = 512};
  auto context = [&](Rope::Scaling scaling) {
    rope.scaling = scaling;
    return extended_context(rope, 1024);
  };
  EXPECT_EQ(context(Rope::Scaling::none), 1024);
  EXPECT_EQ(context(Rope::Scaling::linear), 4096);
  EXPECT_EQ(context(Rope::Scaling::dynamic), 4096);
  EXPECT_EQ(context(Rope::Scaling::yarn), 2048);      // of the original length
  EXPECT_EQ(context(Rope::Scaling::llama3), 1024);    // stated stretched
  EXPECT_EQ(context(Rope::Scaling::longrope), 1024);  // so too
  rope.factor = 1e30F;
  EXPECT_EQ(context(Rope::Scaling::linear), std::numeric_limits<int32_t>::max());
  rope.factor = 0.5F;
  EXPECT_EQ(context(Rope::Scaling::linear), 1024);
}

TEST(RopeConfig, LengthClassesFollowTheFrequencies) {
  Rope rope{.dim = 8, .factor = 2, .original_max_position = 32};
  rope.short_factor = {1, 1, 1, 1};
  rope.long_factor = {2, 2, 2, 2};
  rope.scaling = Rope::Scaling::linear;
  EXPECT_EQ(rope.length_class(1000), 0);
  rope.scaling = Rope::Scaling::longrope;
  EXPECT_EQ(rope.length_class(32), 0);
  EXPECT_EQ(rope.length_class(33), rope.length_class(1000));
  EXPECT_NE(rope.length_class(33), 0);
  rope.scaling = Rope::Scaling::dynamic;
  EXPECT_EQ(rope.length_class(1), rope.length_class(32));
  EXPECT_NE(rope.length_class(33), rope.length_class(34));
  EXPECT_EQ(rope.frequencies(1), rope.frequencies(32));
  EXPECT_NE(rope.frequencies(33), rope.frequencies(34));
}

TEST(RopeConfig, DivisorsApplyToTheFrequencies) {
  Rope rope{.dim = 4, .theta = 100};
  rope.freq_factors = {2, 5};
  EXPECT_EQ(rope.frequencies(1), (std::vector<float>{0.5F, 0.02F}));
}

}  // namespace
}  // namespace matador
