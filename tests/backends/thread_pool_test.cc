#include "backends/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "backends/cpu/claims.h"

namespace matador::cpu {
namespace {

// A worker that is put aside in a loop comes back while the next one, a longer one, is set up.
TEST(Claims, ALateThreadClaimsNothingOfTheNextLoop) {
  Claims claims;
  claims.prepare(2);
  const uint32_t loop = claims.open();
  EXPECT_EQ(claims.claim(loop), 0U);
  EXPECT_EQ(claims.claim(loop), 1U);
  EXPECT_EQ(claims.claim(loop), std::nullopt);
  claims.prepare(64);
  EXPECT_EQ(claims.claim(loop), std::nullopt);
  const uint32_t next = claims.open();
  EXPECT_EQ(claims.claim(loop), std::nullopt);
  EXPECT_EQ(claims.claim(next), 0U);
}

// More threads than cores, and short loops before long ones: a worker that is put aside while a
// short loop ends comes back in the long one that follows.
TEST(ThreadPool, RunsEachItemOfEachLoopOnceWhateverItsThreadsAreDoing) {
  ThreadPool pool(4);
  ThreadPool::Awake awake(pool);
  int wrong = 0;
  for (int loop = 0; loop < 200000; ++loop) {
    const int items = loop % 2 == 0 ? 4 : 64;
    std::vector<std::atomic<int>> runs(static_cast<size_t>(items));
    pool.run(items, [&](int64_t item, int) { runs[static_cast<size_t>(item)].fetch_add(1); });
    for (const auto& count : runs) wrong += count.load() != 1;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, WorksWithoutWorkers) {
  ThreadPool pool(1);
  ThreadPool::Awake awake(pool);
  int sum = 0;
  pool.run(10, [&](int64_t item, int thread) { sum += static_cast<int>(item) + thread; });
  EXPECT_EQ(sum, 45);
}

TEST(ThreadPool, ALoopSeesWhatTheLastOneWrote) {
  ThreadPool pool(3);
  const ThreadPool::Awake awake(pool);
  std::vector<int64_t> values(64);
  for (int round = 0; round < 500; ++round) {
    pool.run(64, [&](int64_t item, int) { values[static_cast<size_t>(63 - item)] += item; });
  }
  for (int64_t i = 0; i < 64; ++i) EXPECT_EQ(values[static_cast<size_t>(63 - i)], 500 * i);
}

TEST(ThreadPool, SleepsBetweenSteps) {
  ThreadPool pool(4);
  { const ThreadPool::Awake awake(pool); }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 50);
}

}  // namespace
}  // namespace matador::cpu
