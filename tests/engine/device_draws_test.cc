// Devices that choose tokens themselves, against the host's sampler.
#include "engine/device_draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "backends/cuda/cuda.h"
#include "engine/sampler.h"

namespace matador {
namespace {

constexpr int32_t kVocab = 5003;
constexpr int32_t kRows = 40;

// A request in the middle of its answer.
struct Running {
  Running(SamplingParams params, uint64_t seed) {
    group.seed = seed;
    group.request.params = std::move(params);
    group.request.prompt = {5, 6, 7, 5};
    group.prompt_planned = group.prompt_done = true;
    group.choices.push_back(std::make_unique<Sequence>(
        group, 0,
        LogitsProcessor(group.request.params, group.request.prompt, std::vector<int32_t>{11, 12})));
    sequence().tokens = group.request.prompt;
    for (int32_t token : {20, 21, 20, 5}) {
      sequence().tokens.push_back(token);
      sequence().processor.observe(token);
    }
  }
  Sequence& sequence() { return *group.choices[0]; }

  SequenceGroup group;
};

std::vector<SamplingParams> every_kind() {
  std::vector<SamplingParams> kinds(12);
  kinds[0].temperature = 0;
  kinds[1].temperature = 1;
  kinds[2].top_k = 7;
  kinds[3].top_p = 0.7F;
  kinds[4].min_p = 0.05F;
  kinds[5] = {.temperature = 0.6F, .top_k = 50, .top_p = 0.9F, .min_p = 0.01F};
  kinds[6].repetition_penalty = 1.4F;
  kinds[7] = {.presence_penalty = 0.5F, .frequency_penalty = 0.7F};
  kinds[8].logit_bias = {{20, 3.5F}, {99, -100.0F}, {11, 2.0F}};
  kinds[9].allowed_token_ids = {1, 31, 32, 33, 64, 5002};
  kinds[10].bad_words = {{21}, {20, 5, 30}, {5, 31}};
  kinds[11] = {.min_tokens = 9, .temperature = 1.7F, .top_p = 0.99F};
  for (size_t i = 0; i < kinds.size(); i += 2) kinds[i].logprobs = static_cast<int32_t>(i);
  return kinds;
}

// Few distinct values, so that ties are common; some rows are nearly flat, some peaked.
std::vector<float> random_logits() {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> logits(static_cast<size_t>(kRows) * kVocab);
  for (size_t i = 0; i < logits.size(); ++i) {
    const float spread = 0.5F + static_cast<float>(i / kVocab % 5);
    logits[i] = std::round(normal(random) * spread * 8) / 8;
  }
  return logits;
}

class DeviceDrawsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << cuda_problem(0);
    backend_ = make_cuda_backend({.graphs = false});
    buffer_ = backend_->allocate(logits_.size() * sizeof(float));
    backend_->copy(buffer_->data(), logits_.data(), buffer_->size());
  }

  StepOutput run(const Plan& plan) {
    DeviceDraws draws(kVocab);
    Batch batch;
    batch.block_size = 16;
    const std::vector<int32_t> start = {0};
    batch.query_start = start;
    batch.draws = draws.prepare(plan);
    const Tensor logits{static_cast<std::byte*>(buffer_->data()), DType::f32, kRows, kVocab,
                        kVocab};
    backend_->plan(batch);
    backend_->run({}, [&](Ops& ops) { ops.draw(logits, batch.draws); });
    draws.launched(plan);
    return draws.collect(*backend_);
  }

  std::span<const float> row(int32_t index) const {
    return std::span(logits_).subspan(static_cast<size_t>(index) * kVocab, kVocab);
  }

  std::vector<float> logits_ = random_logits();
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Buffer> buffer_;
};

void expect_near(const TokenLogprobs& found, const TokenLogprobs& expected) {
  EXPECT_EQ(found.chosen.rank, expected.chosen.rank);
  EXPECT_NEAR(found.chosen.logprob, expected.chosen.logprob, 1e-6F);
  ASSERT_EQ(found.top.size(), expected.top.size());
  for (size_t i = 0; i < found.top.size(); ++i) {
    EXPECT_EQ(found.top[i].token, expected.top[i].token);
    EXPECT_EQ(found.top[i].rank, expected.top[i].rank);
    EXPECT_NEAR(found.top[i].logprob, expected.top[i].logprob, 1e-6F);
  }
}

TEST_F(DeviceDrawsTest, AreTheHostsDraws) {
  Sampler sampler(kVocab);
  for (const SamplingParams& params : every_kind()) {
    std::vector<std::unique_ptr<Running>> running;
    Plan plan;
    for (int32_t i = 0; i < kRows; ++i) {
      running.push_back(std::make_unique<Running>(params, 1000 + i));
      plan.draws.push_back({&running.back()->sequence(), i, 4});
    }
    const StepOutput found = run(plan);
    ASSERT_EQ(found.draws.size(), static_cast<size_t>(kRows));
    for (int32_t i = 0; i < kRows; ++i) {
      Sequence& sequence = running[i]->sequence();
      const Sampled expected = sampler.sample(row(i), {.params = sequence.params(),
                                                       .processor = sequence.processor,
                                                       .tokens = sequence.tokens,
                                                       .mask = {},
                                                       .seed = running[i]->group.seed,
                                                       .choice = 0,
                                                       .position = 4});
      SCOPED_TRACE("row " + std::to_string(i) + ", top_k " + std::to_string(params.top_k) +
                   ", top_p " + std::to_string(params.top_p));
      EXPECT_EQ(found.draws[i].token, expected.token);
      EXPECT_EQ(found.draws[i].error, expected.error);
      ASSERT_EQ(found.draws[i].logprobs.has_value(), expected.logprobs.has_value());
      if (expected.logprobs) expect_near(*found.draws[i].logprobs, *expected.logprobs);
    }
  }
}

TEST_F(DeviceDrawsTest, SayWhatIsWrongWithLogits) {
  Running greedy({.temperature = 0}, 1);
  SamplingParams none_left;
  none_left.allowed_token_ids = {20};
  none_left.bad_words = {{20}};
  Running banned(none_left, 1);
  const float nan = std::nanf("");
  backend_->copy(static_cast<float*>(buffer_->data()) + 77, &nan, sizeof(nan));
  Plan plan;
  plan.draws = {{&greedy.sequence(), 0, 4}, {&banned.sequence(), 1, 4}};
  const StepOutput found = run(plan);
  EXPECT_EQ(found.draws[0].error, "the model computed logits that are not finite");
  EXPECT_EQ(found.draws[1].error, "the request's parameters leave no token to choose");
}

// On the host alone: an edit a token says all that process() does to it.
TEST(DeviceDrawEdits, SayWhatTheProcessorDoes) {
  std::vector<float> logits(kVocab);
  for (int32_t i = 0; i < kVocab; ++i) logits[i] = std::sin(static_cast<float>(i)) * 4;
  for (const SamplingParams& params : every_kind()) {
    Running running(params, 1);
    const Sequence& sequence = running.sequence();
    std::vector<LogitEdit> edits;
    sequence.processor.append_edits(sequence.tokens, edits);
    std::vector<float> edited = logits, expected(kVocab);
    sequence.processor.process(logits, sequence.tokens, {}, expected);
    for (const LogitEdit& edit : edits) {
      float& logit = edited[edit.token];
      logit += edit.bias;
      const float penalty = params.repetition_penalty;
      if (edit.count >= 0) logit = logit > 0 ? logit / penalty : logit * penalty;
      if (edit.count <= 0) continue;
      logit -= params.frequency_penalty * static_cast<float>(edit.count);
      logit -= params.presence_penalty;
    }
    if (params.allowed_token_ids.empty()) {
      EXPECT_EQ(edited, expected);
    }
  }
}

}  // namespace
}  // namespace matador
