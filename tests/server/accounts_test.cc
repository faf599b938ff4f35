#include "server/accounts.h"

#include <gtest/gtest.h>

namespace matador {
namespace {

using namespace std::chrono_literals;

const auto kStart = Account::Clock::time_point() + 1h;

std::string header(const Account::Entry& entry, const std::string& name) {
  for (const auto& [key, value] : entry.headers)
    if (key == name) return value;
  return "";
}

TEST(Accounts, ABucketFillsEvenlyUpToAMinutesWorth) {
  TokenBucket bucket(60, kStart);
  bucket.take(60, kStart);
  EXPECT_DOUBLE_EQ(bucket.level(kStart + 10s), 10);
  EXPECT_DOUBLE_EQ(bucket.level(kStart + 1h), 60);
  bucket.take(90, kStart + 1h);
  EXPECT_DOUBLE_EQ(bucket.time_until(1, kStart + 1h).count(), 31);
}

TEST(Accounts, RequestsAMinuteAreRefusedUntilTheBucketHasOne) {
  Account account({.name = "a", .requests_per_minute = 2}, kStart);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(account.enter(true, kStart).ticket);
  Account::Entry refused = account.enter(true, kStart);
  EXPECT_FALSE(refused.ticket);
  EXPECT_EQ(refused.error.status, 429);
  EXPECT_EQ(header(refused, "Retry-After"), "30");
  EXPECT_EQ(header(refused, "x-ratelimit-reset-requests"), "1m0s");
  EXPECT_TRUE(account.enter(true, kStart + 30s).ticket);
}

TEST(Accounts, ADebtOfTokensIsPaidBeforeTheNextRequest) {
  Account account({.name = "a", .tokens_per_minute = 60}, kStart);
  account.enter(true, kStart).ticket->charge(120, kStart);
  Account::Entry refused = account.enter(true, kStart);
  EXPECT_EQ(header(refused, "Retry-After"), "61");
  EXPECT_EQ(header(refused, "x-ratelimit-remaining-tokens"), "0");
  EXPECT_TRUE(account.enter(false, kStart).ticket) << "a line of a batch is never refused";
  EXPECT_TRUE(account.enter(true, kStart + 62s).ticket);
}

TEST(Accounts, ARequestThatEndsMakesRoom) {
  Account account({.name = "a", .max_concurrent_requests = 1}, kStart);
  Account::Entry first = account.enter(true, kStart);
  EXPECT_EQ(account.enter(true, kStart).error.status, 429);
  first.ticket.reset();
  EXPECT_TRUE(account.enter(true, kStart).ticket);
}

TEST(Accounts, AKeyIsFoundWholeOrNotAtAll) {
  Accounts accounts({{.name = "a", .key = "first"}, {.name = "b", .key = "second"}});
  EXPECT_EQ(accounts.find("Bearer second")->tenant().name, "b");
  EXPECT_EQ(accounts.find("bearer first")->tenant().name, "a");
  for (auto wrong : {"", "Bearer ", "Bearer firs", "Bearer firstt", "first", "Basic first"})
    EXPECT_EQ(accounts.find(wrong), nullptr) << wrong;
  EXPECT_EQ(accounts.of("b").tenant().key, "second");
  EXPECT_FALSE(accounts.of("gone").tenant().admin);
  EXPECT_TRUE(Accounts({}).of("").tenant().admin);
}

}  // namespace
}  // namespace matador
