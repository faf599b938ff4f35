// Thousands of random traces through the scheduler and the block pool: arrivals, cancels, faults,
// shared prefixes, many choices, caches that hold little more than one sequence.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "engine/scheduler.h"
#include "recording_sink.h"
#include "simulated_device.h"

namespace matador {
namespace {

constexpr int32_t kStop = 7;

struct Trace {
  explicit Trace(uint32_t seed) : random(seed) {
    block_size = pick(1, 8);
    limits.max_model_len = pick(8, 48);
    int32_t least = (limits.max_model_len + block_size - 1) / block_size;
    num_blocks = least + pick(0, 3) * pick(0, least);
    limits.max_num_seqs = pick(1, 8);
    limits.max_num_batched_tokens = pick(1, 40);
    limits.max_prompt_logprob_rows = pick(1, 12);
    limits.eos_token_ids = {kStop};
    depends_on_length = pick(0, 3) == 0;
    if (depends_on_length) {
      limits.length_class = simulated_length_class;
      limits.recomputes_when_class_grows = pick(0, 1) == 0;
    }
    caching = pick(0, 3) > 0;
    blocks = std::make_unique<BlockPool>(num_blocks, block_size, caching);
    scheduler = std::make_unique<Scheduler>(*blocks, limits);
    device = std::make_unique<SimulatedDevice>(num_blocks, block_size, depends_on_length);
  }

  int32_t pick(int32_t low, int32_t high) {
    return std::uniform_int_distribution<int32_t>(low, high)(random);
  }

  // Few beginnings, so that prefixes are shared; some go on from an earlier answer, as a chat does.
  std::vector<int32_t> prompt() {
    std::vector<int32_t> tokens;
    if (!requests.empty() && pick(0, 2) == 0) {
      auto earlier = static_cast<size_t>(pick(0, static_cast<int32_t>(requests.size()) - 1));
      tokens = requests[earlier].prompt;
      const std::vector<int32_t>& answer = sinks[earlier]->choice(0).tokens;
      tokens.insert(tokens.end(), answer.begin(), answer.end());
    }
    int32_t size = pick(1, limits.max_model_len - 1), beginning = pick(0, 2);
    int32_t common = pick(0, size);
    for (auto i = static_cast<int32_t>(tokens.size()); i < size; ++i) {
      tokens.push_back(i < common ? (i * 5 + beginning) % kSimulatedVocab
                                  : pick(0, kSimulatedVocab - 1));
    }
    tokens.resize(std::min<size_t>(tokens.size(), limits.max_model_len - 1));
    return tokens;
  }

  void submit() {
    Request request;
    request.prompt = prompt();
    request.n = pick(0, 2) == 0 ? pick(1, 10) : 1;
    request.priority = pick(0, 3) == 0 ? pick(-1, 1) : 0;
    request.tenant = std::string(1, pick(0, 1) == 0 ? 'a' : 'b');
    request.weight = pick(1, 3);
    request.cache_salt = pick(0, 4) == 0 ? "salt" : "";
    request.params.max_tokens = pick(0, 30);
    request.params.ignore_eos = pick(0, 1) == 0;
    if (pick(0, 5) == 0) request.params.prompt_logprobs = 0;
    sinks.push_back(std::make_shared<RecordingSink>(request.n));
    request.sink = sinks.back();
    requests.push_back(request);
    cancelled.emplace_back(request.n, false);
    scheduler->add(requests.size(), std::move(request), requests.size() * 77);
  }

  void cancel_some() {
    if (requests.empty()) return;
    auto id = static_cast<size_t>(pick(1, static_cast<int32_t>(requests.size())));
    int32_t choice = pick(-1, requests[id - 1].n - 1);
    for (int32_t i = 0; i < requests[id - 1].n; ++i) {
      if (choice < 0 || choice == i) cancelled[id - 1][i] = true;
    }
    scheduler->cancel(id, choice);
  }

  void deliver() {
    for (Delivery& delivery : scheduler->take_deliveries()) {
      delivery.sink->push(std::move(delivery.event));
    }
  }

  bool all_finished() const {
    return std::ranges::all_of(sinks, [](const auto& sink) { return sink->all_finished(); });
  }

  // Also ahead: the plan before is committed after this one has run.
  void step(bool faulty) {
    const Plan& plan = scheduler->plan();
    if (open_plan == nullptr) {
      ASSERT_EQ(plan.empty(), all_finished()) << "stalled, or busy with nothing";
    }
    ASSERT_LE(plan.num_tokens, limits.max_num_batched_tokens);
    ASSERT_LE(plan.items.size(), static_cast<size_t>(limits.max_num_seqs));
    for (const Plan::Item& item : plan.items) ASSERT_GT(item.count, 0);
    const Plan* previous = std::exchange(open_plan, nullptr);
    StepOutput previous_output = std::exchange(open_output, {});
    if (faulty) {
      scheduler->fail(plan, "a fault");
    } else if (!plan.empty()) {
      open_plan = &plan;
      open_output = device->run(plan);
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
    }
    if (previous != nullptr) scheduler->commit(*previous, std::move(previous_output));
    if (open_plan != nullptr && !ahead) commit_open();
    deliver();
    Status status = scheduler->check_integrity();
    ASSERT_TRUE(status.ok()) << status.error().message;
  }

  void commit_open() {
    scheduler->commit(*std::exchange(open_plan, nullptr), std::move(open_output));
  }

  // What choice `index` generates when nothing else runs.
  std::vector<int32_t> alone(size_t request_index, int32_t choice) const {
    const Request& request = requests[request_index];
    std::vector<int32_t> output;
    std::vector<int32_t> tokens = request.prompt;
    auto size = static_cast<int32_t>(tokens.size());
    int32_t base = size;
    uint64_t state = 0;
    auto compute_from = [&](int32_t first) {
      for (int32_t p = first; p < size; ++p) {
        state = device->fingerprint(p == 0 ? 0 : state, tokens[p], std::max(base, p + 1));
      }
    };
    compute_from(0);
    while (static_cast<int32_t>(output.size()) < request.params.max_tokens &&
           size < limits.max_model_len) {
      auto position = static_cast<int32_t>(output.size());
      output.push_back(
          SimulatedDevice::next_token(state, (request_index + 1) * 77, choice, position));
      if (output.back() == kStop && !request.params.ignore_eos) break;
      tokens.push_back(output.back());
      ++size;
      const bool anew = limits.recomputes_when_class_grows &&
                        simulated_length_class(size) != simulated_length_class(base);
      if (anew) base = size;
      compute_from(anew ? 0 : size - 1);
    }
    return output;
  }

  void check_outputs() const {
    for (size_t i = 0; i < requests.size(); ++i) {
      const Request& request = requests[i];
      for (int32_t c = 0; c < request.n; ++c) {
        const RecordingSink::Choice& choice = sinks[i]->choice(c);
        std::vector<int32_t> expected = alone(i, c);
        if (choice.reason == FinishReason::aborted) {
          ASSERT_TRUE(cancelled[i][c]);
        } else if (choice.reason == FinishReason::error) {
          ASSERT_EQ(choice.error, "a fault");
        } else {
          ASSERT_EQ(choice.tokens.size(), expected.size());
        }
        expected.resize(std::min(expected.size(), choice.tokens.size()));
        ASSERT_EQ(choice.tokens, expected) << "request " << i << " choice " << c;
      }
      if (!request.params.prompt_logprobs || !sinks[i]->prompt_done()) continue;
      const auto& logprobs = sinks[i]->prompt_logprobs();
      ASSERT_EQ(logprobs.size(), request.prompt.size() - 1);
      for (size_t p = 0; p < logprobs.size(); ++p) {
        ASSERT_EQ(logprobs[p].chosen.token, request.prompt[p + 1]);
        ASSERT_EQ(logprobs[p].chosen.rank, static_cast<int32_t>(p + 1));
      }
    }
  }

  std::mt19937 random;
  SchedulerLimits limits;
  int32_t block_size = 0, num_blocks = 0;
  bool depends_on_length = false, caching = true, ahead = false;
  const Plan* open_plan = nullptr;  // has run and is not committed
  StepOutput open_output;
  std::unique_ptr<BlockPool> blocks;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<SimulatedDevice> device;
  std::vector<Request> requests;
  std::vector<std::vector<bool>> cancelled;
  std::vector<std::shared_ptr<RecordingSink>> sinks;
};

void run_trace(Trace& trace) {
  bool faulty_device = trace.pick(0, 9) == 0;
  int32_t arrivals = trace.pick(1, 14);
  int32_t steps = 0;
  while (arrivals > 0 || !trace.all_finished()) {
    ASSERT_LT(++steps, 50000) << "no progress";
    for (; arrivals > 0 && trace.pick(0, 2) == 0; --arrivals) trace.submit();
    if (trace.pick(0, 15) == 0) trace.cancel_some();
    trace.deliver();
    trace.step(faulty_device && trace.pick(0, 20) == 0);
    if (::testing::Test::HasFatalFailure()) return;
  }
  trace.step(false);  // what was planned before the last results were known
  if (::testing::Test::HasFatalFailure()) return;
  EXPECT_EQ(trace.blocks->num_free(), trace.num_blocks) << "blocks leaked";
  EXPECT_EQ(trace.scheduler->num_finished(), trace.requests.size());
  EXPECT_EQ(trace.scheduler->num_started(), trace.requests.size());
  trace.check_outputs();
}

// Parameter: whether a step is planned before the one before it is committed.
class SchedulerSimulation : public ::testing::TestWithParam<bool> {};

TEST_P(SchedulerSimulation, RandomTracesGiveEveryRequestWhatItGetsAlone) {
  EngineStats total;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE("trace " + std::to_string(seed));
    Trace trace(seed);
    trace.ahead = GetParam();
    run_trace(trace);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    EngineStats stats = trace.scheduler->stats();
    total.preemptions += stats.preemptions;
    total.prefix_hits += stats.prefix_hits;
    total.steps += stats.steps;
  }
  // The traces are hard enough to mean something.
  EXPECT_GT(total.preemptions, 10000U);
  EXPECT_GT(total.prefix_hits, 10000U);
  RecordProperty("steps", static_cast<int>(total.steps));
}

INSTANTIATE_TEST_SUITE_P(Loops, SchedulerSimulation, ::testing::Bool(), [](const auto& instance) {
  return instance.param ? "ahead" : "one_by_one";
});

}  // namespace
}  // namespace matador
