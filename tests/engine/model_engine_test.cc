// Real models, in small: whatever happens around a request, its tokens and logprobs are the ones
// it gets alone, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <tuple>
#include <utility>

#include "backends/cuda/cuda.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "recording_sink.h"
#include "weights/checkpoint.h"

namespace matador {
namespace {

struct Answer {
  std::vector<int32_t> tokens;
  std::vector<TokenLogprobs> logprobs, prompt_logprobs;
};

void expect_equal(const TokenLogprobs& a, const TokenLogprobs& b) {
  ASSERT_EQ(a.chosen.token, b.chosen.token);
  ASSERT_EQ(a.chosen.logprob, b.chosen.logprob);
  ASSERT_EQ(a.chosen.rank, b.chosen.rank);
  ASSERT_EQ(a.top.size(), b.top.size());
  for (size_t i = 0; i < a.top.size(); ++i) {
    ASSERT_EQ(a.top[i].token, b.top[i].token);
    ASSERT_EQ(a.top[i].logprob, b.top[i].logprob);
  }
}

void expect_equal(const std::vector<TokenLogprobs>& a, const std::vector<TokenLogprobs>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) expect_equal(a[i], b[i]);
}

// Parameters: a folder of tests/data/models, and a device.
class ModelEngineTest : public ::testing::TestWithParam<std::tuple<std::string, const char*>> {
 protected:
  void SetUp() override {
    if (std::get<1>(GetParam()) == std::string("cuda") && !cuda_available()) {
      GTEST_SKIP() << cuda_problem(0);
    }
  }

  static std::unique_ptr<Engine> make(const EngineOptions& options) {
    const auto& [name, device] = GetParam();
    std::string path = std::string(MATADOR_TEST_DATA) + "/models/" + name;
    auto checkpoint = open_checkpoint(path);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    auto backend = open_device({.name = device, .threads = 2, .reproducible = true});
    EXPECT_TRUE(backend.ok()) << backend.error().message;
    auto model = load_model(**checkpoint, **backend, {});
    EXPECT_TRUE(model.ok()) << model.error().message;
    auto engine = Engine::create(std::move(*model), *backend, options);
    EXPECT_TRUE(engine.ok()) << engine.error().message;
    return std::move(*engine);
  }

  // Prompts of 1 to 60 tokens, half of them beginning alike, with every kind of sampling.
  static std::vector<Request> requests() {
    std::mt19937 random(5);
    auto pick = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    std::vector<Request> list;
    for (int i = 0; i < 16; ++i) {
      Request request;
      int size = pick(1, 60);
      for (int p = 0; p < size; ++p) {
        request.prompt.push_back(i % 2 == 0 && p < 40 ? 3 + p : pick(3, 127));
      }
      SamplingParams& params = request.params;
      params.max_tokens = pick(5, 40);
      params.ignore_eos = true;
      params.temperature = i % 4 == 0 ? 0.0F : 0.9F;
      params.seed = 100 + i;
      params.logprobs = 3;
      if (i % 5 == 1) params.top_p = 0.8F;
      if (i % 5 == 2) params.top_k = 20;
      if (i % 5 == 3) params.repetition_penalty = 1.3F;
      if (i % 5 == 4) params.frequency_penalty = 0.5F;
      if (i % 4 == 1) params.prompt_logprobs = 2;
      if (i % 3 == 0) request.n = 3;
      list.push_back(std::move(request));
    }
    return list;
  }

  // Each request's choices, one after the other. `together`: all at once.
  static std::vector<std::vector<Answer>> run(Engine& engine, bool together, int copies = 1) {
    std::vector<std::shared_ptr<RecordingSink>> sinks;
    std::vector<Request> asked;
    for (int i = 0; i < copies; ++i) std::ranges::move(requests(), std::back_inserter(asked));
    for (Request& request : asked) {
      sinks.push_back(std::make_shared<RecordingSink>(request.n));
      request.sink = sinks.back();
      Result<RequestId> id = engine.submit(request);
      EXPECT_TRUE(id.ok()) << id.error().message;
      if (!together) {
        EXPECT_TRUE(sinks.back()->wait());
      }
    }
    std::vector<std::vector<Answer>> answers;
    for (size_t i = 0; i < sinks.size(); ++i) {
      EXPECT_TRUE(sinks[i]->wait());
      answers.emplace_back();
      for (int32_t c = 0; c < asked[i].n; ++c) {
        const auto& choice = sinks[i]->choice(c);
        EXPECT_EQ(choice.error, "");
        answers.back().push_back({choice.tokens, choice.logprobs, sinks[i]->prompt_logprobs()});
      }
    }
    return answers;
  }

  static EngineOptions undisturbed() {
    EngineOptions options;
    options.max_model_len = 112;
    options.kv_cache_bytes = 4 << 20;
    options.prefix_caching = false;
    return options;
  }

  static void expect_as_alone(const EngineOptions& options, EngineStats* stats = nullptr) {
    EngineOptions alone = undisturbed();
    alone.block_size = options.block_size;  // a backend may split its sums at blocks
    auto lone_engine = make(alone);
    auto expected = run(*lone_engine, false);
    auto engine = make(options);
    for (int round = 0; round < 2; ++round) {
      auto found = run(*engine, true);
      for (size_t i = 0; i < found.size(); ++i) {
        for (size_t c = 0; c < found[i].size(); ++c) {
          SCOPED_TRACE("request " + std::to_string(i) + " choice " + std::to_string(c));
          ASSERT_EQ(found[i][c].tokens, expected[i][c].tokens);
          expect_equal(found[i][c].logprobs, expected[i][c].logprobs);
          expect_equal(found[i][c].prompt_logprobs, expected[i][c].prompt_logprobs);
          if (HasFatalFailure()) return;
        }
      }
    }
    engine->drain();
    if (stats != nullptr) *stats = engine->stats();
  }
};

TEST_P(ModelEngineTest, BatchedEqualsAlone) {
  EngineOptions options = undisturbed();
  expect_as_alone(options);
}

// 256 requests, 448 sequences, of which 256 run at once.
TEST_P(ModelEngineTest, AmongHundredsEqualsAlone) {
  EngineOptions options = undisturbed();
  options.kv_cache_bytes = 64 << 20;
  auto lone_engine = make(undisturbed());
  const auto expected = run(*lone_engine, false);
  auto engine = make(options);
  const auto found = run(*engine, true, 16);
  for (size_t i = 0; i < found.size(); ++i) {
    for (size_t c = 0; c < found[i].size(); ++c) {
      SCOPED_TRACE("request " + std::to_string(i) + " choice " + std::to_string(c));
      ASSERT_EQ(found[i][c].tokens, expected[i % expected.size()][c].tokens);
    }
  }
}

TEST_P(ModelEngineTest, ChunkedEqualsAlone) {
  EngineOptions options = undisturbed();
  options.max_num_batched_tokens = 7;
  expect_as_alone(options);
}

TEST_P(ModelEngineTest, PlannedAheadEqualsAlone) {
  EngineOptions options = undisturbed();
  options.plan_ahead = true;
  expect_as_alone(options);
}

TEST_P(ModelEngineTest, PrefixHitsEqualAlone) {
  EngineOptions options = undisturbed();
  options.prefix_caching = true;
  options.block_size = 8;
  EngineStats stats;
  expect_as_alone(options, &stats);
  EXPECT_GT(stats.prefix_hits, 200U);
}

TEST_P(ModelEngineTest, PreemptedEqualsAlone) {
  for (auto [caching, ahead] : {std::pair{false, false}, {true, false}, {true, true}}) {
    EngineOptions options = undisturbed();
    options.prefix_caching = caching;
    options.plan_ahead = ahead;
    options.block_size = 4;
    auto probe = make(options);
    // As many blocks as one sequence of the greatest length needs, and a third more.
    options.kv_cache_bytes = options.kv_cache_bytes / probe->stats().num_blocks * 38 + 64;
    probe.reset();
    options.max_num_batched_tokens = 64;
    EngineStats stats;
    expect_as_alone(options, &stats);
    EXPECT_GT(stats.preemptions, 5U);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelEngineTest,
                         ::testing::Combine(::testing::Values("llama", "llama-dynamic",
                                                              "phi3-longrope", "gemma3"),
                                            ::testing::Values("cpu", "cuda")),
                         [](const auto& instance) {
                           std::string name = std::get<0>(instance.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + "_on_" + std::get<1>(instance.param);
                         });

}  // namespace
}  // namespace matador
