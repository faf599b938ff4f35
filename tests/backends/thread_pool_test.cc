#include "backends/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace matador::cpu {
namespace {

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

}  // namespace
}  // namespace matador::cpu
