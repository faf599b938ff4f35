#include "engine/span_budget.h"

#include <gtest/gtest.h>

#include "engine/logits.h"
#include "engine/logits_processor.h"

namespace matador {
namespace {

constexpr int32_t kOpen = 1, kClose = 2, kReally = 3;
const SpanBudgetParams kBudget{.max_tokens = 2, .begin = {kOpen}, .end = {kClose, kReally}};

TEST(SpanBudget, ForcesTheEndOnceItIsSpent) {
  SpanBudget budget(kBudget);
  for (int32_t token : {7, 8, 9, kOpen, 7}) budget.observe(token);
  EXPECT_FALSE(budget.forced());
  budget.observe(8);
  EXPECT_EQ(budget.forced(), kClose);
  budget.observe(kClose);
  EXPECT_EQ(budget.forced(), kReally);
  budget.observe(kReally);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(budget.forced());
    budget.observe(7);
  }
}

TEST(SpanBudget, CountsNothingOnceTheModelHasEnded) {
  SpanBudget budget(kBudget);
  for (int32_t token : {kOpen, 7, kClose, kReally, 7, 7, 7}) {
    EXPECT_FALSE(budget.forced());
    budget.observe(token);
  }
}

TEST(SpanBudget, OfZeroEndsWhatThePromptHasOpened) {
  SpanBudgetParams params = kBudget;
  params.max_tokens = 0;
  params.open = true;
  EXPECT_EQ(SpanBudget(params).forced(), kClose);
  params.open = false;
  EXPECT_FALSE(SpanBudget(params).forced());
}

TEST(SpanBudget, TakesAnEndThatBreaksOffForTokensInside) {
  SpanBudgetParams params = kBudget;
  params.max_tokens = 3;
  params.open = true;
  SpanBudget budget(params);
  for (int32_t token : {kClose, 7, kClose}) budget.observe(token);
  EXPECT_FALSE(budget.forced());  // two inside, and the end has begun
  budget.observe(8);
  EXPECT_EQ(budget.forced(), kClose);
}

TEST(SpanBudget, GoesBeforeAllElseThatChangesLogits) {
  SamplingParams params;
  params.thinking_budget = kBudget;
  params.thinking_budget->max_tokens = 0;
  params.allowed_token_ids = {7};
  params.logit_bias = {{7, 100}};
  LogitsProcessor processor(params, {}, {});
  processor.observe(kOpen);
  ASSERT_TRUE(processor.active());
  const std::vector<float> logits(10, 1.0F);
  std::vector<float> out(10);
  processor.process(logits, {}, {}, out);
  for (int32_t token = 0; token < 10; ++token)
    EXPECT_EQ(out[static_cast<size_t>(token)] > kBanned, token == kClose) << token;
}

}  // namespace
}  // namespace matador
