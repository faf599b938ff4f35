// The sampler against straightforward implementations that sort, and against the probabilities.
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "engine/random.h"

namespace matador {
namespace {

std::vector<float> random_logits(size_t size, uint32_t seed, float spread = 3) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> logits(size);
  for (float& x : logits) x = std::round(normal(random) * 8) / 8;  // with ties
  return logits;
}

std::vector<int32_t> sorted_ids(const std::vector<double>& values) {
  std::vector<int32_t> ids(values.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return values[a] > values[b]; });
  return ids;
}

std::vector<double> softmax(const std::vector<double>& logits) {
  double max = *std::max_element(logits.begin(), logits.end()), sum = 0;
  std::vector<double> p;
  for (double x : logits) p.push_back(std::exp(x - max));
  for (double x : p) sum += x;
  for (double& x : p) x /= sum;
  return p;
}

// The definitions, in the order of request.h, by full sorts: the distribution of the next token.
std::vector<double> expected_distribution(const std::vector<float>& logits,
                                          const SamplingParams& params,
                                          const std::vector<int32_t>& prompt,
                                          const std::vector<int32_t>& output,
                                          const std::vector<int32_t>& stops) {
  const double banned = -std::numeric_limits<double>::infinity();
  std::vector<double> x(logits.begin(), logits.end());
  if (!params.allowed_token_ids.empty()) {
    for (size_t i = 0; i < x.size(); ++i) {
      const auto& allowed = params.allowed_token_ids;
      if (std::find(allowed.begin(), allowed.end(), i) == allowed.end()) x[i] = banned;
    }
  }
  std::vector<int32_t> all = prompt;
  all.insert(all.end(), output.begin(), output.end());
  for (const auto& word : params.bad_words) {
    std::vector<int32_t> ending(word.begin(), word.end() - 1);
    if (all.size() >= ending.size() && std::equal(ending.rbegin(), ending.rend(), all.rbegin())) {
      x[word.back()] = banned;
    }
  }
  if (static_cast<int32_t>(output.size()) < params.min_tokens) {
    for (int32_t stop : stops) x[stop] = banned;
  }
  for (auto [token, bias] : params.logit_bias) x[token] += bias;
  std::map<int32_t, int> counts;
  for (int32_t token : output) ++counts[token];
  std::set<int32_t> seen(all.begin(), all.end());
  for (int32_t token : seen) {
    x[token] =
        x[token] > 0 ? x[token] / params.repetition_penalty : x[token] * params.repetition_penalty;
  }
  for (auto [token, count] : counts) {
    x[token] -= params.frequency_penalty * count + params.presence_penalty;
  }
  if (params.temperature < 1e-5) {
    std::vector<double> p(x.size(), 0);
    p[sorted_ids(x)[0]] = 1;
    return p;
  }
  for (double& value : x) value /= params.temperature;
  std::vector<double> p = softmax(x);
  double most = *std::max_element(p.begin(), p.end());
  for (size_t i = 0; i < x.size(); ++i) {
    if (p[i] < params.min_p * most) x[i] = banned;
  }
  std::vector<int32_t> order = sorted_ids(x);
  if (params.top_k > 0) {
    for (size_t i = params.top_k; i < order.size(); ++i) x[order[i]] = banned;
  }
  p = softmax(x);
  double before = 0;
  for (int32_t id : order) {
    if (before >= params.top_p) x[id] = banned;
    before += p[id];
  }
  return softmax(x);
}

struct Case {
  std::vector<float> logits;
  SamplingParams params;
  std::vector<int32_t> prompt = {1, 2, 3}, output = {}, stops = {};

  std::vector<double> expected() const {
    return expected_distribution(logits, params, prompt, output, stops);
  }
  Sampled sample(Sampler& sampler, uint64_t seed, int32_t position = 0) const {
    LogitsProcessor processor(params, prompt, stops);
    for (int32_t token : output) processor.observe(token);
    std::vector<int32_t> tokens = prompt;
    tokens.insert(tokens.end(), output.begin(), output.end());
    return sampler.sample(logits, {params, processor, tokens, {}, seed, 0, position});
  }
};

// Pearson's test of `draws` draws; the seed is fixed, so it cannot fail by chance.
void expect_distribution(const Case& c, int draws = 6000) {
  Sampler sampler(static_cast<int32_t>(c.logits.size()));
  std::vector<double> expected = c.expected();
  std::vector<int> counts(c.logits.size(), 0);
  for (int i = 0; i < draws; ++i) {
    Sampled sampled = c.sample(sampler, 42, i);
    ASSERT_EQ(sampled.error, "");
    ++counts.at(sampled.token);
  }
  double statistic = 0, rest = 0;
  int cells = 0, rest_count = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (expected[i] <= 1e-12) {
      ASSERT_EQ(counts[i], 0) << "token " << i << " is excluded";
    }
    double mean = expected[i] * draws;
    if (mean < 5) {  // too few for a cell of their own
      rest += mean;
      rest_count += counts[i];
      continue;
    }
    statistic += (counts[i] - mean) * (counts[i] - mean) / mean;
    ++cells;
  }
  if (rest > 5) {
    statistic += (rest_count - rest) * (rest_count - rest) / rest;
    ++cells;
  }
  // The 99.9% quantile of chi-square, by Wilson and Hilferty.
  double k = std::max(1, cells - 1);
  double quantile = k * std::pow(1 - 2 / (9 * k) + 3.09 * std::sqrt(2 / (9 * k)), 3);
  EXPECT_LT(statistic, quantile) << cells << " cells";
}

TEST(Sampler, GreedyTakesTheLowestOfEqualBest) {
  Case c{.logits = {0, 5, 1, 5, -1}, .params = {.temperature = 0}};
  Sampler sampler(5);
  EXPECT_EQ(c.sample(sampler, 0).token, 1);
}

TEST(Sampler, ArgmaxFindsTheFirstBestAnywhere) {
  for (size_t size : {1, 7, 1023, 1024, 1025, 5000}) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      std::vector<float> logits = random_logits(size, seed);
      EXPECT_EQ(argmax(logits), std::max_element(logits.begin(), logits.end()) - logits.begin());
      for (float& x : logits) x = -std::abs(x) - 1;
      EXPECT_EQ(argmax(logits), std::max_element(logits.begin(), logits.end()) - logits.begin());
    }
  }
  std::vector<float> zeros = {-0.0F, 0.0F, -0.0F};
  EXPECT_EQ(argmax(zeros), 0);
}

TEST(Sampler, LogitsThatAreNotFiniteAreAnError) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (float bad : {nan, -nan, inf}) {
    for (size_t place : {0, 1500, 2999}) {
      Case c{.logits = random_logits(3000, 1), .params = {}};
      c.logits[place] = bad;
      Sampler sampler(3000);
      EXPECT_NE(c.sample(sampler, 0).error, "");
      c.params.temperature = 0;
      EXPECT_NE(c.sample(sampler, 0).error, "");
    }
  }
  Case all_banned{.logits = std::vector<float>(10, -inf), .params = {}};
  Sampler sampler(10);
  EXPECT_NE(all_banned.sample(sampler, 0).error, "");
}

TEST(Sampler, ParametersThatLeaveNoTokenAreAnError) {
  Case c{.logits = random_logits(20, 1), .params = {.min_tokens = 1, .allowed_token_ids = {4}}};
  c.stops = {4};
  Sampler sampler(20);
  EXPECT_NE(c.sample(sampler, 0).error, "");
}

TEST(Sampler, TinyTemperaturesAreGreedyWithoutNan) {
  for (float temperature : {1e-38F, 1e-20F, 1e-6F, 1e-5F, 1e-4F}) {
    Case c{.logits = random_logits(1000, 3, 30), .params = {.temperature = temperature}};
    c.logits[17] = 400;
    for (auto [top_k, top_p, min_p] : {std::tuple(0, 1.0F, 0.0F),
                                       {5, 1.0F, 0.0F},
                                       {0, 0.5F, 0.0F},
                                       {0, 1.0F, 0.5F},
                                       {7, 0.1F, 0.1F}}) {
      c.params.top_k = top_k;
      c.params.top_p = top_p;
      c.params.min_p = min_p;
      Sampler sampler(1000);
      EXPECT_EQ(c.sample(sampler, 9).token, 17);
    }
  }
}

TEST(Sampler, DrawsFromTheSoftmax) {
  expect_distribution({.logits = random_logits(50, 1, 1), .params = {}});
  expect_distribution({.logits = random_logits(3000, 2, 2), .params = {}});
  expect_distribution({.logits = random_logits(50, 3), .params = {.temperature = 0.7F}});
  expect_distribution({.logits = random_logits(50, 4), .params = {.temperature = 2.5F}});
}

TEST(Sampler, TopKKeepsExactlyKAndTiesGoToLowerIds) {
  for (int32_t k : {1, 2, 5, 49, 50, 1000}) {
    expect_distribution({.logits = random_logits(50, 5, 1), .params = {.top_k = k}});
  }
  expect_distribution({.logits = std::vector<float>(200, 1), .params = {.top_k = 7}});
}

TEST(Sampler, TopPKeepsTheSmallestSetThatReachesP) {
  for (float p : {0.01F, 0.3F, 0.9F, 0.999F}) {
    expect_distribution({.logits = random_logits(50, 6, 1), .params = {.top_p = p}});
    expect_distribution({.logits = random_logits(3000, 7, 6), .params = {.top_p = p}});
  }
  expect_distribution({.logits = std::vector<float>(300, -4), .params = {.top_p = 0.501F}});
}

TEST(Sampler, MinPIsRelativeToTheBest) {
  for (float p : {0.01F, 0.2F, 1.0F}) {
    expect_distribution({.logits = random_logits(50, 8, 1), .params = {.min_p = p}});
  }
}

TEST(Sampler, FiltersCombine) {
  SamplingParams params{.temperature = 1.3F, .top_k = 20, .top_p = 0.8F, .min_p = 0.05F};
  expect_distribution({.logits = random_logits(300, 9, 2), .params = params});
  params.top_k = 0;
  expect_distribution({.logits = random_logits(300, 10, 2), .params = params});
  params.top_p = 1;
  params.top_k = 3;
  expect_distribution({.logits = random_logits(300, 11, 2), .params = params});
}

TEST(Sampler, PenaltiesFollowTheirDefinitions) {
  for (auto [repetition, presence, frequency] : {std::tuple(1.5F, 0.0F, 0.0F),
                                                 {1.0F, 0.8F, 0.0F},
                                                 {1.0F, 0.0F, 0.6F},
                                                 {0.7F, -1.0F, 0.3F}}) {
    Case c{.logits = random_logits(30, 12, 1),
           .params = {.repetition_penalty = repetition,
                      .presence_penalty = presence,
                      .frequency_penalty = frequency}};
    c.output = {5, 6, 5, 5, 7, 2};
    expect_distribution(c);
  }
}

TEST(Sampler, BiasBansAndAllowedTokens) {
  Case c{.logits = random_logits(30, 13, 1),
         .params = {.min_tokens = 3,
                    .logit_bias = {{4, 2.5F}, {5, -100}},
                    .allowed_token_ids = {1, 2, 4, 5, 6, 7, 8, 9},
                    .bad_words = {{6}, {3, 7, 8}, {7, 9}, {1, 1}}}};
  c.stops = {2};
  c.output = {7};
  expect_distribution(c);
  c.output = {8, 9, 4};  // min_tokens reached
  expect_distribution(c);
}

TEST(Sampler, ABadWordMayBeginInThePrompt) {
  Case c{.logits = {0, 0, 0, 9, 0}, .params = {.temperature = 0, .bad_words = {{2, 3, 3}}}};
  c.prompt = {1, 2, 3};
  Sampler sampler(5);
  EXPECT_EQ(c.sample(sampler, 0).token, 0);
  c.prompt = {3};  // shorter than the word's beginning
  EXPECT_EQ(c.sample(sampler, 0).token, 3);
}

TEST(Sampler, TheSameSeedAndPositionGiveTheSameToken) {
  Case c{.logits = random_logits(5000, 14, 1), .params = {}};
  Sampler one(5000), other(5000);
  Case noise{.logits = random_logits(5000, 15, 1), .params = {.top_k = 40, .top_p = 0.9F}};
  std::set<int32_t> distinct;
  for (int32_t position = 0; position < 50; ++position) {
    int32_t token = c.sample(one, 7, position).token;
    noise.sample(other, 8, position);  // other requests in the batch change nothing
    EXPECT_EQ(c.sample(other, 7, position).token, token);
    distinct.insert(token);
  }
  EXPECT_GT(distinct.size(), 40U);
}

TEST(Sampler, LogprobsAreTheRawLogSoftmaxWithRanks) {
  Case c{.logits = random_logits(2000, 16),
         .params = {.temperature = 0.5F, .logit_bias = {{3, 50.0F}}, .logprobs = 5}};
  Sampler sampler(2000);
  Sampled sampled = c.sample(sampler, 0);
  ASSERT_EQ(sampled.token, 3);
  std::vector<double> raw(c.logits.begin(), c.logits.end());
  std::vector<double> p = softmax(raw);
  std::vector<int32_t> order = sorted_ids(raw);
  const TokenLogprobs& logprobs = *sampled.logprobs;
  EXPECT_EQ(logprobs.chosen.rank, std::find(order.begin(), order.end(), 3) - order.begin() + 1);
  EXPECT_NEAR(logprobs.chosen.logprob, std::log(p[3]), 1e-5);
  ASSERT_EQ(logprobs.top.size(), 5U);
  for (int32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(logprobs.top[i].token, order[i]);
    EXPECT_EQ(logprobs.top[i].rank, i + 1);
    EXPECT_NEAR(logprobs.top[i].logprob, std::log(p[order[i]]), 1e-5);
  }
}

TEST(Sampler, SelectionOfTheBestEqualsASort) {
  for (size_t count : {1, 3, 64, 200, 4000, 9000}) {
    std::vector<float> logits = random_logits(9000, static_cast<uint32_t>(count));
    std::vector<double> values(logits.begin(), logits.end());
    std::vector<int32_t> order = sorted_ids(values);
    std::vector<Candidate> top;
    select_top(logits, count, std::numeric_limits<float>::lowest(), top);
    std::sort(top.begin(), top.end(), more_likely);
    ASSERT_EQ(top.size(), count);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(top[i].token, order[i]);
  }
}

TEST(Sampler, ExponentialsAreAccurate) {
  std::vector<float> x;
  for (float v = 0; v > -86; v -= 0.0037F) x.push_back(v);
  std::vector<float> y(x.size());
  exponentials(x, 0, 1, y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(y[i] / std::exp(static_cast<double>(x[i])), 1, 3e-7) << x[i];
  }
  std::vector<float> far = {-1000, -std::numeric_limits<float>::infinity(), -88};
  exponentials(far, 0, 1, y.data());
  EXPECT_EQ(y[0] + y[1] + y[2], 0);
}

// The known answers of Random123's kat_vectors for philox4x32-10.
TEST(Random, PhiloxGivesTheKnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox(0, 0, 0), (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  EXPECT_EQ(philox(~0ULL, ~0ULL, ~0ULL), (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
}

}  // namespace
}  // namespace matador
