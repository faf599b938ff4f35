// Answers that outgrow the original context of a rope that depends on the length, as transformers'
// generate() continues them (growing.json of tools/make_tiny.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "backends/cpu/cpu.h"
#include "engine/engine.h"
#include "recording_sink.h"
#include "weights/checkpoint.h"

namespace matador {
namespace {

using Tokens = std::vector<int32_t>;

struct Golden {
  Tokens tokens, greedy;
};

class Growing : public ::testing::TestWithParam<const char*> {
 protected:
  static std::string folder() { return std::string(MATADOR_TEST_DATA) + "/models/" + GetParam(); }
  static Golden golden() {
    std::ifstream file(folder() + "/growing.json");
    const auto json = nlohmann::json::parse(file);
    return {json["tokens"].get<Tokens>(), json["greedy"].get<Tokens>()};
  }

  static std::unique_ptr<Engine> make(EngineOptions options) {
    options.max_model_len = 64;
    options.kv_cache_bytes = 1 << 20;
    options.kv_type = KvType::f32;
    options.block_size = 4;
    const auto checkpoint = open_checkpoint(folder()).value();
    std::shared_ptr<Backend> backend = make_cpu_backend({.threads = 1, .isa = {}});
    auto model = load_model(*checkpoint, *backend, {.precision = Precision::exact, .progress = {}});
    EXPECT_TRUE(model.ok()) << model.error().message;
    auto engine = Engine::create(std::move(*model), backend, options);
    EXPECT_TRUE(engine.ok()) << engine.error().message;
    return std::move(*engine);
  }

  static std::shared_ptr<RecordingSink> submit(Engine& engine, const Tokens& prompt, int32_t n) {
    Request request;
    request.prompt = prompt;
    request.n = n;
    request.params.temperature = 0;
    request.params.max_tokens = static_cast<int32_t>(golden().greedy.size());
    request.params.ignore_eos = true;
    auto sink = std::make_shared<RecordingSink>(n);
    request.sink = sink;
    EXPECT_TRUE(engine.submit(std::move(request)).ok());
    return sink;
  }
};

TEST_P(Growing, AnswersGoOnAsInTransformers) {
  for (const bool plan_ahead : {false, true}) {
    for (const int32_t step : {64, 7}) {
      EngineOptions options;
      options.plan_ahead = plan_ahead;
      options.max_num_batched_tokens = step;
      const auto engine = make(options);
      const auto first = submit(*engine, golden().tokens, 3);
      ASSERT_TRUE(first->wait());
      const auto again = submit(*engine, golden().tokens, 1);  // finds the prompt's blocks
      ASSERT_TRUE(again->wait());
      for (int32_t choice = 0; choice < 3; ++choice) {
        EXPECT_EQ(first->choice(choice).tokens, golden().greedy)
            << choice << " ahead " << plan_ahead;
      }
      EXPECT_EQ(again->choice().tokens, golden().greedy);
      EXPECT_GT(again->num_cached_tokens(), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Growing, ::testing::Values("llama-dynamic", "phi3-longrope"), [](const auto& test) {
      return std::string(test.param).substr(0, std::string(test.param).find('-'));
    });

}  // namespace
}  // namespace matador
