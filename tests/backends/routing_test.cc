// The choice of experts, by hand.
#include "backends/routing.h"

#include <gtest/gtest.h>

#include <vector>

namespace matador {
namespace {

struct Choice {
  std::vector<int32_t> experts;
  std::vector<float> weights;
};

Choice choose(const Routing& routing, const std::vector<float>& logits,
              const std::vector<float>& correction = {}) {
  Choice choice{std::vector<int32_t>(static_cast<size_t>(routing.top_k)),
                std::vector<float>(static_cast<size_t>(routing.top_k))};
  std::vector<float> scores(logits.size());
  route(routing, logits.data(), correction.empty() ? nullptr : correction.data(), scores.data(),
        choice.experts.data(), choice.weights.data());
  return choice;
}

using Experts = std::vector<int32_t>;
const float kLn2 = std::log(2.0F);

TEST(Routing, TakesTheBestBySoftmax) {
  const Choice choice = choose({.num_experts = 4, .top_k = 2}, {0, 2 * kLn2, kLn2, 0});
  EXPECT_EQ(choice.experts, (Experts{1, 2}));
  EXPECT_FLOAT_EQ(choice.weights[0], 4.0F / 8);
  EXPECT_FLOAT_EQ(choice.weights[1], 2.0F / 8);
}

TEST(Routing, NormalisesAndScales) {
  const Choice choice =
      choose({.num_experts = 4, .top_k = 2, .normalise = true, .scale = 3}, {0, 2 * kLn2, kLn2, 0});
  EXPECT_FLOAT_EQ(choice.weights[0], 2);
  EXPECT_FLOAT_EQ(choice.weights[1], 1);
}

TEST(Routing, GivesTiesToTheLowerIndex) {
  EXPECT_EQ(choose({.num_experts = 4, .top_k = 3}, {1, 2, 2, 1}).experts, (Experts{1, 2, 0}));
}

TEST(Routing, CorrectsTheChoiceButNotTheWeights) {
  const Routing routing{
      .num_experts = 3, .top_k = 1, .score = Routing::Score::sigmoid, .corrected = true};
  const Choice choice = choose(routing, {0, 1, -1}, {0, 0, 1});
  EXPECT_EQ(choice.experts, Experts{2});
  EXPECT_FLOAT_EQ(choice.weights[0], 1 / (1 + std::exp(1.0F)));
}

TEST(Routing, ChoosesWithinTheBestGroups) {
  Routing routing{.num_experts = 6, .top_k = 2, .num_groups = 3, .top_groups = 1};
  const std::vector<float> logits = {5, 0, 4, 4.5F, 1, 1};
  EXPECT_EQ(choose(routing, logits).experts, (Experts{0, 1}));
  routing.groups_by_two = true;
  routing.score = Routing::Score::sigmoid;
  EXPECT_EQ(choose(routing, logits).experts, (Experts{3, 2}));
}

TEST(Routing, MixesSparselyAmongThoseThatAreNear) {
  const Routing routing{
      .num_experts = 3, .top_k = 2, .score = Routing::Score::sparsemixer, .jitter = 0.1F};
  // 4 and 3.9 are near each other, 2 is not.
  const Choice choice = choose(routing, {3.9F, 2, 4});
  EXPECT_EQ(choice.experts, (Experts{2, 0}));
  EXPECT_NEAR(choice.weights[0], 1 / (1 + std::exp(-0.1F)), 1e-6F);
  EXPECT_FLOAT_EQ(choice.weights[1], 1);
}

TEST(Routing, OfNoNumbersStaysWithinTheExperts) {
  const float nan = std::nanf("");
  for (auto score :
       {Routing::Score::softmax, Routing::Score::sigmoid, Routing::Score::sparsemixer}) {
    for (int32_t groups : {1, 2}) {
      const Routing routing{
          .num_experts = 4, .top_k = 2, .score = score, .num_groups = groups, .top_groups = 1};
      for (int32_t expert : choose(routing, {nan, nan, nan, nan}).experts) {
        EXPECT_GE(expert, 0);
        EXPECT_LT(expert, 4);
      }
    }
  }
}

}  // namespace
}  // namespace matador
