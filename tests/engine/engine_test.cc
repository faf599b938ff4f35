// The engine's thread: its commands, its ends, its faults.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <ctime>
#include <thread>

#include "backends/reference/reference.h"
#include "counting_model.h"
#include "recording_sink.h"

namespace matador {
namespace {

using Tokens = std::vector<int32_t>;

// Parameter: EngineOptions::plan_ahead.
class EngineTest : public ::testing::TestWithParam<bool> {
 protected:
  EngineOptions options_{.block_size = 4, .kv_cache_bytes = 1 << 20, .plan_ahead = GetParam()};
  std::shared_ptr<CountingControl> control_ = std::make_shared<CountingControl>();

  std::unique_ptr<Engine> make() {
    auto engine = Engine::create(std::make_unique<CountingModel>(control_),
                                 make_reference_backend(), options_);
    EXPECT_TRUE(engine.ok());
    return std::move(*engine);
  }

  static Request greedy(Tokens prompt, int32_t max_tokens) {
    Request request;
    request.prompt = std::move(prompt);
    request.params.temperature = 0;
    request.params.max_tokens = max_tokens;
    return request;
  }

  static std::shared_ptr<RecordingSink> submit(Engine& engine, Request request) {
    auto sink = std::make_shared<RecordingSink>(request.n);
    request.sink = sink;
    Result<RequestId> id = engine.submit(std::move(request));
    EXPECT_TRUE(id.ok()) << id.error().message;
    return sink;
  }

  // Until the engine's thread has published what a test waits for.
  template <class Condition>
  static bool eventually(Condition condition) {
    for (int i = 0; i < 3000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
};

TEST_P(EngineTest, CountsOnFromThePrompt) {
  auto engine = make();
  auto sink = submit(*engine, greedy({3, 4, 5}, 4));
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice().tokens, (Tokens{6, 7, 8, 9}));
  EXPECT_EQ(sink->choice().reason, FinishReason::length);
}

TEST_P(EngineTest, AStepHasAsManyTokensAsTheDeviceLikes) {
  const std::shared_ptr<Backend> backend = make_reference_backend();
  const int32_t liked = backend->info().step_tokens;
  auto engine =
      Engine::create(std::make_unique<CountingModel>(control_, 2 * liked), backend, options_);
  ASSERT_TRUE(engine.ok());
  auto sink = submit(**engine, greedy(Tokens(static_cast<size_t>(liked + 100), 3), 1));
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(control_->most_tokens, liked);
}

TEST_P(EngineTest, StopsAtEosAndSaysWhichTokenItWas) {
  options_.eos_token_ids = {8, 9, 1000};
  auto engine = make();
  auto sink = submit(*engine, greedy({5}, 20));
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice().tokens, (Tokens{6, 7, 8}));
  EXPECT_EQ(sink->choice().reason, FinishReason::stop);
  EXPECT_EQ(sink->choice().stop_token, 8);
}

TEST_P(EngineTest, IgnoreEosGoesOnAndStopTokensStillStop) {
  options_.eos_token_ids = {8};
  auto engine = make();
  Request request = greedy({5}, 20);
  request.params.ignore_eos = true;
  request.params.stop_token_ids = {11};
  auto sink = submit(*engine, request);
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice().tokens.back(), 11);
  EXPECT_EQ(sink->choice().stop_token, 11);
}

TEST_P(EngineTest, MinTokensKeepsStopsFromBeingChosen) {
  options_.eos_token_ids = {6};
  auto engine = make();
  Request request = greedy({5}, 10);
  request.params.min_tokens = 3;
  auto sink = submit(*engine, request);
  ASSERT_TRUE(sink->wait());
  // 6 is banned, then the lowest of equals.
  EXPECT_EQ(sink->choice().tokens, (Tokens{0, 1, 2, 3, 4, 5, 6}));
}

TEST_P(EngineTest, AFullContextEndsWithLength) {
  auto engine = make();
  auto sink = submit(*engine, greedy(Tokens(60, 1), 100));
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice().tokens.size(), 4U);
  EXPECT_EQ(sink->choice().reason, FinishReason::length);
}

TEST_P(EngineTest, ZeroMaxTokensScoresThePromptOnly) {
  auto engine = make();
  Request request = greedy(Tokens(64, 1), 0);
  request.params.prompt_logprobs = 2;
  auto sink = submit(*engine, request);
  ASSERT_TRUE(sink->wait());
  EXPECT_TRUE(sink->choice().tokens.empty());
  ASSERT_EQ(sink->prompt_logprobs().size(), 63U);
  EXPECT_EQ(sink->prompt_logprobs()[0].top.size(), 2U);
  EXPECT_EQ(sink->prompt_logprobs()[0].top[0].token, 2);
}

TEST_P(EngineTest, TheSecondRequestHitsThePrefixCacheUnlessItsSaltDiffers) {
  auto engine = make();
  Request request = greedy(Tokens(21, 1), 1);
  ASSERT_TRUE(submit(*engine, request)->wait());
  auto again = submit(*engine, request);
  ASSERT_TRUE(again->wait());
  EXPECT_EQ(again->num_cached_tokens(), 20);
  request.cache_salt = "another tenant";
  auto salted = submit(*engine, request);
  ASSERT_TRUE(salted->wait());
  EXPECT_EQ(salted->num_cached_tokens(), 0);
  request.cache_salt = "";
  request.params.prompt_logprobs = 0;
  auto scored = submit(*engine, request);
  ASSERT_TRUE(scored->wait());
  EXPECT_EQ(scored->num_cached_tokens(), 0);
  EXPECT_EQ(scored->prompt_logprobs().size(), 20U);
}

TEST_P(EngineTest, ChoicesShareThePromptAlsoWithoutPrefixCaching) {
  options_.prefix_caching = false;
  auto engine = make();
  Request request = greedy(Tokens(30, 1), 3);
  request.n = 5;
  auto sink = submit(*engine, request);
  ASSERT_TRUE(sink->wait());
  for (int32_t i = 0; i < 5; ++i) EXPECT_EQ(sink->choice(i).tokens, (Tokens{2, 3, 4}));
  // Ahead, the first choice goes on before the others are born.
  EXPECT_EQ(control_->steps, GetParam() ? 4 : 3);
  EXPECT_EQ(control_->most_tokens, 30);
}

TEST_P(EngineTest, MoreChoicesThanSequencesComeInWavesWithoutComputingThePromptAgain) {
  options_.max_num_seqs = 2;
  options_.prefix_caching = false;
  auto engine = make();
  Request request = greedy(Tokens(30, 1), 3);
  request.n = 7;
  auto sink = submit(*engine, request);
  ASSERT_TRUE(sink->wait());
  for (int32_t i = 0; i < 7; ++i) EXPECT_EQ(sink->choice(i).tokens, (Tokens{2, 3, 4}));
  // Ahead, a place is known to be free a step later.
  EXPECT_EQ(control_->steps, GetParam() ? 1 + 2 + 3 * 3 : 1 + 4 * 2);
}

TEST_P(EngineTest, LongPromptsAreComputedInChunksBesideDecodes) {
  options_.max_num_batched_tokens = 8;
  auto engine = make();
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 6; ++i) sinks.push_back(submit(*engine, greedy(Tokens(40, i), 10)));
  for (auto& sink : sinks) {
    ASSERT_TRUE(sink->wait());
    EXPECT_EQ(sink->choice().tokens.size(), 10U);
  }
  EXPECT_LE(control_->most_tokens, 8);
}

TEST_P(EngineTest, CancelFreesEverythingAndSaysAborted) {
  control_->pause_ms = 2;
  auto engine = make();
  Request request = greedy({1}, 60);
  auto sink = std::make_shared<RecordingSink>(3);
  request.n = 3;
  request.sink = sink;
  RequestId id = *engine->submit(request);
  ASSERT_TRUE(sink->wait_for_tokens(2));
  engine->cancel(id, 1);
  engine->cancel(id + 100);  // unknown: ignored
  ASSERT_TRUE(eventually([&] { return engine->stats().num_running == 2; }));
  engine->cancel(id);
  ASSERT_TRUE(sink->wait());
  for (int32_t i = 0; i < 3; ++i) EXPECT_EQ(sink->choice(i).reason, FinishReason::aborted);
  ASSERT_TRUE(eventually([&] { return engine->stats().num_running == 0; }));
  EXPECT_EQ(engine->stats().num_free_blocks, engine->stats().num_blocks);
}

TEST_P(EngineTest, CancellingTheFirstChoiceLeavesThePromptToTheOthers) {
  options_.max_num_batched_tokens = 2;
  control_->pause_ms = 5;
  auto engine = make();
  Request request = greedy(Tokens(40, 1), 2);
  auto sink = std::make_shared<RecordingSink>(2);
  request.n = 2;
  request.sink = sink;
  RequestId id = *engine->submit(request);
  ASSERT_TRUE(eventually([&] { return engine->stats().num_running == 1; }));
  engine->cancel(id, 0);
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice(0).reason, FinishReason::aborted);
  EXPECT_EQ(sink->choice(1).tokens, (Tokens{2, 3}));
  EXPECT_LE(control_->steps, 22) << "the prompt went on where it was";
}

TEST_P(EngineTest, DrainWaitsForTheRunningAndRefusesNewOnes) {
  control_->pause_ms = 1;
  auto engine = make();
  auto sink = submit(*engine, greedy({1}, 30));
  engine->drain();
  EXPECT_TRUE(sink->all_finished());
  EXPECT_EQ(sink->choice().tokens.size(), 30U);
  Request late = greedy({1}, 1);
  late.sink = sink;
  Result<RequestId> refused = engine->submit(late);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
}

TEST_P(EngineTest, DestructionAbortsWhatIsLeft) {
  control_->pause_ms = 1;
  auto engine = make();
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 50; ++i) sinks.push_back(submit(*engine, greedy({1}, 60)));
  engine.reset();
  for (auto& sink : sinks) EXPECT_TRUE(sink->all_finished());
  EXPECT_EQ(sinks.back()->choice().reason, FinishReason::aborted);
}

TEST_P(EngineTest, TheQueueIsBounded) {
  control_->pause_ms = 20;
  options_.max_num_seqs = 1;
  options_.max_waiting = 3;
  auto engine = make();
  std::vector<std::shared_ptr<RecordingSink>> sinks = {submit(*engine, greedy({1}, 20))};
  ASSERT_TRUE(eventually([&] { return engine->stats().num_running == 1; }));
  for (int i = 0; i < 3; ++i) sinks.push_back(submit(*engine, greedy({1}, 1)));
  Request extra = greedy({1}, 1);
  extra.sink = std::make_shared<RecordingSink>();
  Result<RequestId> refused = engine->submit(extra);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  for (auto& sink : sinks) ASSERT_TRUE(sink->wait());
}

TEST_P(EngineTest, AFaultEndsItsRequestsAndTheNextOnesRun) {
  auto engine = make();
  control_->faults = 1;
  auto sink = submit(*engine, greedy({1}, 5));
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice().reason, FinishReason::error);
  EXPECT_NE(sink->choice().error.find("on fire"), std::string::npos);
  auto next = submit(*engine, greedy({1}, 5));
  ASSERT_TRUE(next->wait());
  EXPECT_EQ(next->choice().tokens.size(), 5U);
  EXPECT_TRUE(engine->healthy());
}

TEST_P(EngineTest, FaultAfterFaultMakesTheEngineUnhealthy) {
  auto engine = make();
  control_->faults = 3;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(submit(*engine, greedy({1}, 5))->wait());
  EXPECT_TRUE(eventually([&] { return !engine->healthy(); }));
  Request request = greedy({1}, 1);
  request.sink = std::make_shared<RecordingSink>();
  EXPECT_EQ(engine->submit(request).error().code, ErrorCode::unavailable);
}

TEST_P(EngineTest, NanLogitsEndOneSequenceOnly) {
  control_->nan_after = 12;
  auto engine = make();
  auto bad = submit(*engine, greedy({10}, 10));
  auto good = submit(*engine, greedy({20}, 10));
  ASSERT_TRUE(bad->wait());
  ASSERT_TRUE(good->wait());
  EXPECT_EQ(bad->choice().tokens, (Tokens{11, 12}));
  EXPECT_EQ(bad->choice().reason, FinishReason::error);
  EXPECT_EQ(good->choice().tokens.size(), 10U);
  EXPECT_TRUE(engine->healthy());
}

TEST_P(EngineTest, LowerPriorityValuesRunFirst) {
  control_->pause_ms = 5;
  options_.max_num_seqs = 1;
  auto engine = make();
  auto running = submit(*engine, greedy({1}, 30));
  Request later = greedy({1}, 3);
  later.priority = 5;
  auto low = submit(*engine, later);
  later.priority = -5;
  auto high = submit(*engine, later);
  ASSERT_TRUE(high->wait());
  EXPECT_FALSE(low->all_finished());
  ASSERT_TRUE(low->wait());
  ASSERT_TRUE(running->wait());
}

TEST_P(EngineTest, SeedsMakeRunsRepeatable) {
  options_.seed = 11;
  Request request = greedy({1}, 20);
  request.params.temperature = 5;
  std::vector<Tokens> outputs;
  for (int run = 0; run < 2; ++run) {
    auto engine = make();
    auto one = submit(*engine, request), two = submit(*engine, request);
    ASSERT_TRUE(one->wait());
    ASSERT_TRUE(two->wait());
    outputs.push_back(one->choice().tokens);
    outputs.push_back(two->choice().tokens);
  }
  EXPECT_EQ(outputs[0], outputs[2]);
  EXPECT_EQ(outputs[1], outputs[3]);
  EXPECT_NE(outputs[0], outputs[1]) << "each request has a seed of its own";
}

TEST_P(EngineTest, AnIdleEngineUsesNoProcessorTime) {
  auto engine = make();
  ASSERT_TRUE(submit(*engine, greedy({1}, 5))->wait());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  EXPECT_LT(used, 0.05);
}

TEST_P(EngineTest, ManyThreadsSubmitAndCancelAtOnce) {
  options_.max_num_seqs = 8;
  options_.kv_cache_bytes = 20 * 4 * 32;  // 20 blocks
  auto engine = make();
  std::vector<std::thread> clients;
  std::atomic<int> complete = 0;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 40; ++i) {
        auto sink = std::make_shared<RecordingSink>();
        Request request = greedy({client, client}, 10 + i % 30);
        request.sink = sink;
        Result<RequestId> id = engine->submit(request);
        if (id.ok() && i % 3 == 0) engine->cancel(*id);
        engine->stats();
        complete += id.ok() && sink->wait();
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(complete, 8 * 40);
  ASSERT_TRUE(eventually([&] { return engine->stats().num_running == 0; }));
  EXPECT_EQ(engine->stats().num_free_blocks, 20);
}

INSTANTIATE_TEST_SUITE_P(Loops, EngineTest, ::testing::Bool(), [](const auto& instance) {
  return instance.param ? "ahead" : "one_by_one";
});

}  // namespace
}  // namespace matador
