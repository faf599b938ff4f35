// Constraints: masks are obeyed, prepared beside the device, and each choice has its own.
#include "engine/constraint.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/reference/reference.h"
#include "counting_model.h"
#include "engine/engine.h"
#include "engine/mask_workers.h"
#include "recording_sink.h"

namespace matador {
namespace {

using Tokens = std::vector<int32_t>;

struct Rule {
  int32_t step = 2;        // the tokens that are allowed are its multiples
  int32_t may_end = 1000;  // after so many tokens
  int32_t complete = 1000;
  int32_t fails = 1000;
};

class Multiples final : public ConstraintState {
 public:
  explicit Multiples(Rule rule) : rule_(rule) {}

  Result<bool> fill_mask(std::span<uint32_t> mask) override {
    if (count_ == rule_.fails) return invalid_argument("the rule is too hard");
    std::ranges::fill(mask, 0);
    for (int32_t token = 0; token < CountingModel::kVocab; token += rule_.step) {
      mask[token / 32] |= 1U << (token % 32);
    }
    return count_ >= rule_.may_end;
  }
  Status accept(int32_t token) override {
    ++count_;
    return token % rule_.step == 0 ? Status() : Status(invalid_argument("not a multiple"));
  }
  bool finished() const override { return count_ >= rule_.complete; }

 private:
  Rule rule_;
  int32_t count_ = 0;
};

class MultiplesOnly final : public Constraint {
 public:
  explicit MultiplesOnly(Rule rule) : rule_(rule) {}
  std::unique_ptr<ConstraintState> start() const override {
    return std::make_unique<Multiples>(rule_);
  }

 private:
  Rule rule_;
};

class ConstraintTest : public ::testing::Test {
 protected:
  EngineOptions options_{.block_size = 4, .kv_cache_bytes = 1 << 20, .eos_token_ids = {7}};
  std::shared_ptr<CountingControl> control_ = std::make_shared<CountingControl>();

  std::unique_ptr<Engine> make() {
    auto engine = Engine::create(std::make_unique<CountingModel>(control_),
                                 make_reference_backend(), options_);
    EXPECT_TRUE(engine.ok());
    return std::move(*engine);
  }

  static Request greedy(int32_t prompt, int32_t max_tokens, Rule rule) {
    Request request;
    request.prompt = {prompt};
    request.params.temperature = 0;
    request.params.max_tokens = max_tokens;
    request.constraint = std::make_shared<MultiplesOnly>(rule);
    return request;
  }

  static std::shared_ptr<RecordingSink> submit(Engine& engine, Request request) {
    auto sink = std::make_shared<RecordingSink>(request.n);
    request.sink = sink;
    EXPECT_TRUE(engine.submit(std::move(request)).ok());
    return sink;
  }
};

TEST_F(ConstraintTest, OnlyWhatTheMaskAllowsIsGenerated) {
  auto engine = make();
  auto sink = submit(*engine, greedy(5, 3, {}));
  ASSERT_TRUE(sink->wait());
  // 6 is allowed and likeliest; its successor is not, and 0 is the lowest of equals.
  EXPECT_EQ(sink->choice().tokens, (Tokens{6, 0, 0}));
  EXPECT_EQ(sink->choice().reason, FinishReason::length);
}

TEST_F(ConstraintTest, EosMayComeWhereTheOutputMayEndAndNowhereElse) {
  auto engine = make();
  auto early = submit(*engine, greedy(6, 2, {}));
  auto late = submit(*engine, greedy(6, 2, {.may_end = 0}));
  ASSERT_TRUE(early->wait() && late->wait());
  EXPECT_EQ(early->choice().tokens, (Tokens{0, 0}));
  EXPECT_EQ(late->choice().tokens, (Tokens{7}));
  EXPECT_EQ(late->choice().stop_token, 7);
}

TEST_F(ConstraintTest, ACompleteOutputStopsWhateverMinTokensAndIgnoreEosSay) {
  auto engine = make();
  Request request = greedy(5, 10, {.complete = 3});
  request.params.min_tokens = 9;
  request.params.ignore_eos = true;
  auto sink = submit(*engine, request);
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice().tokens.size(), 3U);
  EXPECT_EQ(sink->choice().reason, FinishReason::stop);
  EXPECT_EQ(sink->choice().stop_token, -1);
}

TEST_F(ConstraintTest, MinTokensKeepsEosOutWhereTheOutputMayEnd) {
  auto engine = make();
  Request request = greedy(6, 3, {.may_end = 0});
  request.params.min_tokens = 2;
  auto sink = submit(*engine, request);
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice().tokens, (Tokens{0, 0, 0}));
}

TEST_F(ConstraintTest, LogprobsAreOfTheUnmaskedLogits) {
  auto engine = make();
  Request request = greedy(6, 1, {});
  request.params.logprobs = 1;
  auto sink = submit(*engine, request);
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice().tokens, (Tokens{0}));
  EXPECT_EQ(sink->choice().logprobs[0].top[0].token, 7);
  EXPECT_GT(sink->choice().logprobs[0].chosen.rank, 1);
}

TEST_F(ConstraintTest, AFailingConstraintEndsItsSequenceOnly) {
  auto engine = make();
  auto failing = submit(*engine, greedy(5, 9, {.fails = 2}));
  auto other = submit(*engine, greedy(5, 4, {}));
  ASSERT_TRUE(failing->wait() && other->wait());
  EXPECT_EQ(failing->choice().reason, FinishReason::error);
  EXPECT_EQ(failing->choice().error, "the rule is too hard");
  EXPECT_EQ(failing->choice().tokens.size(), 2U);
  EXPECT_EQ(other->choice().reason, FinishReason::length);
}

TEST_F(ConstraintTest, AFaultOfTheDeviceLeavesTheNextRequestAlone) {
  auto engine = make();
  control_->faults = 1;
  auto broken = submit(*engine, greedy(5, 3, {}));
  ASSERT_TRUE(broken->wait());
  EXPECT_EQ(broken->choice().reason, FinishReason::error);
  auto sink = submit(*engine, greedy(5, 3, {}));
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice().tokens, (Tokens{6, 0, 0}));
}

// Choices, neighbours, preemption and planning ahead change nothing.
TEST_F(ConstraintTest, EachChoiceGetsWhatItGetsAlone) {
  auto request_of = [](int32_t i) {
    Request request = greedy(i, 8 + i, {.step = 2 + i % 3, .may_end = 3, .complete = 12});
    request.params.temperature = 5;
    request.params.seed = i;
    request.n = 3;
    return request;
  };
  std::vector<std::vector<Tokens>> alone;
  auto engine = make();
  auto record = [](const RecordingSink& sink) {
    return std::vector{sink.choice(0).tokens, sink.choice(1).tokens, sink.choice(2).tokens};
  };
  for (int32_t i = 0; i < 12; ++i) {
    auto sink = submit(*engine, request_of(i));
    ASSERT_TRUE(sink->wait());
    for (const Tokens& tokens : alone.emplace_back(record(*sink))) {
      for (int32_t token : tokens) EXPECT_TRUE(token % (2 + i % 3) == 0 || token == 7);
    }
  }
  options_.kv_cache_bytes = 8192;
  options_.plan_ahead = true;
  auto crowded = make();
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int32_t i = 0; i < 12; ++i) sinks.push_back(submit(*crowded, request_of(i)));
  for (int32_t i = 0; i < 12; ++i) {
    ASSERT_TRUE(sinks[i]->wait());
    EXPECT_EQ(record(*sinks[i]), alone[i]) << "request " << i;
  }
  EXPECT_GT(crowded->stats().preemptions, 0U);
}

TEST(MaskWorkers, MasksDoNotDependOnTheNumberOfWorkers) {
  for (int threads : {0, 1, 4}) {
    MaskWorkers workers(threads);
    std::vector<std::unique_ptr<TokenMask>> masks;
    std::vector<TokenMask*> todo;
    for (int32_t i = 0; i < 50; ++i) {
      auto constraint = std::make_shared<MultiplesOnly>(Rule{.step = 1 + i % 7, .may_end = 0});
      todo.push_back(
          masks.emplace_back(std::make_unique<TokenMask>(constraint, Tokens{99}, 100)).get());
    }
    for (int round = 0; round < 3; ++round) {
      { auto pending = workers.start(todo); }
      for (int32_t i = 0; i < 50; ++i) {
        for (int32_t token = 0; token < 100; ++token) {
          bool allowed = masks[i]->bits()[token / 32] >> (token % 32) & 1;
          EXPECT_EQ(allowed, token % (1 + i % 7) == 0 || token == 99);
        }
        masks[i]->accept(0);
      }
    }
  }
}

}  // namespace
}  // namespace matador
