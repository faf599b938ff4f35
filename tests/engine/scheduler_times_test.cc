// When things happened, by a clock that the test moves.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "engine/scheduler.h"
#include "simulated_device.h"

namespace matador {
namespace {

using std::chrono::seconds;

struct KeepingSink final : EventSink {
  void push(Event event) override { events.push_back(std::move(event)); }
  std::vector<Event> events;
};

class SchedulerTimes : public ::testing::Test {
 protected:
  std::shared_ptr<KeepingSink> add(RequestId id, size_t prompt_size, int32_t max_tokens) {
    Request request;
    request.prompt.assign(prompt_size, 1);
    request.params.max_tokens = max_tokens;
    request.queued = now_;
    auto sink = std::make_shared<KeepingSink>();
    request.sink = sink;
    scheduler_.add(id, std::move(request), 0);
    return sink;
  }

  // A step that takes one second.
  void step() {
    const Plan& plan = scheduler_.plan();
    now_ += seconds(1);
    scheduler_.commit(plan, device_.run(plan));
    for (Delivery& delivery : scheduler_.take_deliveries()) {
      delivery.sink->push(std::move(delivery.event));
    }
  }

  static TimePoint at(int second) { return TimePoint() + seconds(second); }

  TimePoint now_ = at(100);
  BlockPool blocks_{16, 4, true};
  SimulatedDevice device_{16, 4, false};
  Scheduler scheduler_{blocks_,
                       {.max_model_len = 32,
                        .max_num_seqs = 1,
                        .max_num_batched_tokens = 8,
                        .eos_token_ids = {},
                        .clock = [this] { return now_; }}};
};

TEST_F(SchedulerTimes, ARequestKnowsWhenItWasQueuedScheduledAndAnswered) {
  const auto first = add(1, 16, 2);  // two steps of prompt, then one more
  now_ += seconds(10);
  const auto second = add(2, 4, 2);  // waits for the first's place
  for (int i = 0; i < 5; ++i) step();

  ASSERT_EQ(first->events.size(), 4U);
  EXPECT_EQ(first->events[0].kind, Event::Kind::prompt_done);
  EXPECT_EQ(first->events[0].queued, at(100));
  EXPECT_EQ(first->events[0].scheduled, at(110));
  EXPECT_EQ(first->events[1].time, at(112));
  EXPECT_EQ(first->events[2].time, at(113));
  EXPECT_EQ(first->events[3].time, at(113));

  ASSERT_EQ(second->events.size(), 4U);
  EXPECT_EQ(second->events[0].queued, at(110));
  EXPECT_EQ(second->events[0].scheduled, at(113));
  EXPECT_EQ(second->events[1].time, at(114));
  EXPECT_EQ(second->events[2].time, at(115));
}

TEST_F(SchedulerTimes, StepsAreCountedByTheirTokens) {
  add(1, 13, 3);  // steps of 8, 5, 1 and 1 tokens
  for (int i = 0; i < 4; ++i) step();
  const StepTokens steps = scheduler_.stats().step_tokens;
  EXPECT_EQ(steps.counts[0], 2U);  // up to 1
  EXPECT_EQ(steps.counts[1], 2U);  // up to 8
  EXPECT_EQ(steps.sum, 15U);
}

}  // namespace
}  // namespace matador
