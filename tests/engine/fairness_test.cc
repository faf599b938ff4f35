// Tenants of one engine: shares, idleness, and lanes of lower priority.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "engine/scheduler.h"
#include "recording_sink.h"
#include "simulated_device.h"

namespace matador {
namespace {

constexpr int32_t kBlocks = 64, kBlockSize = 4, kAnswer = 20;

class Fairness : public testing::Test {
 protected:
  static SchedulerLimits limits() {
    SchedulerLimits limits;
    limits.max_model_len = 64;
    limits.max_num_seqs = 4;
    limits.max_num_batched_tokens = 32;
    return limits;
  }

  std::shared_ptr<RecordingSink> submit(const std::string& tenant, double weight = 1,
                                        int64_t priority = 0) {
    Request request;
    request.prompt = {1, 2, static_cast<int32_t>(++num_submitted_ % kSimulatedVocab)};
    request.params.max_tokens = kAnswer;
    request.params.ignore_eos = true;
    request.tenant = tenant;
    request.weight = weight;
    request.priority = priority;
    request.sink = std::make_shared<RecordingSink>();
    auto sink = std::static_pointer_cast<RecordingSink>(request.sink);
    scheduler_.add(num_submitted_, std::move(request), 7);
    return sink;
  }

  void step() {
    const Plan& plan = scheduler_.plan();
    for (const Plan::Item& item : plan.items)
      tokens_[item.sequence->group.request.tenant] += item.count;
    if (!plan.empty()) scheduler_.commit(plan, device_.run(plan));
    for (Delivery& delivery : scheduler_.take_deliveries())
      delivery.sink->push(std::move(delivery.event));
    ASSERT_TRUE(scheduler_.check_integrity().ok());
  }
  int steps_until(const RecordingSink& sink) {
    int steps = 0;
    for (; !sink.all_finished() && steps < 10'000; ++steps) step();
    return steps;
  }

  BlockPool blocks_{kBlocks, kBlockSize, false};
  Scheduler scheduler_{blocks_, limits()};
  SimulatedDevice device_{kBlocks, kBlockSize, false};
  std::map<std::string, int64_t> tokens_;
  RequestId num_submitted_ = 0;
};

TEST_F(Fairness, AFloodOfOneTenantDelaysItself) {
  for (int i = 0; i < 200; ++i) submit("flood");
  for (int i = 0; i < 3; ++i) step();
  auto small = submit("small");
  // At worst it waits for one of those that run; alone it takes kAnswer + 1 steps.
  EXPECT_LE(steps_until(*small), 2 * kAnswer + 2);
}

TEST_F(Fairness, TenantsGetTokensByTheirWeights) {
  for (int i = 0; i < 100; ++i) {
    submit("heavy", 3);
    submit("light", 1);
  }
  for (int i = 0; i < 400; ++i) step();
  double ratio = static_cast<double>(tokens_["heavy"]) / static_cast<double>(tokens_["light"]);
  EXPECT_NEAR(ratio, 3, 0.3);
}

TEST_F(Fairness, WhatAnIdleTenantDidNotUseIsNotSavedUp) {
  for (int i = 0; i < 100; ++i) submit("busy");
  for (int i = 0; i < 300; ++i) step();
  for (int i = 0; i < 50; ++i) submit("late");
  tokens_.clear();
  for (int i = 0; i < 200; ++i) step();
  double ratio = static_cast<double>(tokens_["late"]) / static_cast<double>(tokens_["busy"]);
  EXPECT_NEAR(ratio, 1, 0.3);
}

TEST_F(Fairness, OneTenantIsServedInOrderOfArrival) {
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 12; ++i) sinks.push_back(submit("one"));
  for (const auto& sink : sinks) steps_until(*sink);
  for (size_t i = 0; i < sinks.size(); ++i) EXPECT_TRUE(sinks[i]->all_finished());
}

TEST_F(Fairness, AnUrgentRequestTakesTheSeatOfALessUrgentOne) {
  std::vector<std::shared_ptr<RecordingSink>> batch;
  for (int i = 0; i < 50; ++i) batch.push_back(submit("batch", 1, 1000));
  for (int i = 0; i < 5; ++i) step();
  auto urgent = submit("online");
  EXPECT_LE(steps_until(*urgent), kAnswer + 1);
  EXPECT_EQ(scheduler_.stats().preemptions, 1U);
  for (const auto& sink : batch) steps_until(*sink);
  for (const auto& sink : batch) EXPECT_EQ(sink->choice().tokens.size(), size_t{kAnswer});
}

}  // namespace
}  // namespace matador
