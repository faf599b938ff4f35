#include "backends/cpu/thread_pool.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace matador::cpu {
namespace {

// Waits a moment; after a while lets other threads have the core.
class Spin {
 public:
  void once() {
    if (++count_ < kPauses) {
#ifdef __x86_64__
      _mm_pause();
#endif
      return;
    }
    std::this_thread::yield();
  }

 private:
  static constexpr int kPauses = 2000;
  int count_ = 0;
};

uint32_t loop_of(uint64_t ticket) { return static_cast<uint32_t>(ticket >> 32); }

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int thread = 1; thread < threads; ++thread) {
    workers_.emplace_back([this, thread] { serve(thread); });
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::begin() {
  if (workers_.empty()) return;
  {
    std::lock_guard lock(mutex_);
    awake_.store(true, std::memory_order_relaxed);
  }
  wake_.notify_all();
}

void ThreadPool::end() { awake_.store(false, std::memory_order_relaxed); }

void ThreadPool::share(uint32_t items, const void* context, Call call) {
  // Closes the last loop first: a worker still in it that reads the new count must not claim an
  // item under the old number.
  const uint32_t last = loop_of(ticket_.load(std::memory_order_relaxed));
  ticket_.store(uint64_t{last} << 32 | UINT32_MAX, std::memory_order_relaxed);
  items_.store(items, std::memory_order_release);
  context_.store(context, std::memory_order_relaxed);
  call_.store(call, std::memory_order_relaxed);
  finished_.store(0, std::memory_order_relaxed);
  const uint32_t loop = last + 1;
  ticket_.store(uint64_t{loop} << 32, std::memory_order_release);
  work(loop, 0);
  Spin spin;
  while (finished_.load(std::memory_order_acquire) < items) spin.once();
}

void ThreadPool::work(uint32_t loop, int thread) {
  for (;;) {
    uint64_t ticket = ticket_.load(std::memory_order_acquire);
    const uint32_t items = items_.load(std::memory_order_acquire);
    const void* context = context_.load(std::memory_order_relaxed);
    const Call call = call_.load(std::memory_order_relaxed);
    do {
      if (loop_of(ticket) != loop || static_cast<uint32_t>(ticket) >= items) return;
    } while (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
    call(context, static_cast<uint32_t>(ticket), thread);
    finished_.fetch_add(1, std::memory_order_release);
  }
}

void ThreadPool::serve(int thread) {
  uint32_t seen = 0;
  Spin spin;
  for (;;) {
    const uint32_t loop = loop_of(ticket_.load(std::memory_order_acquire));
    if (loop != seen) {
      work(loop, thread);
      seen = loop;
      spin = Spin();
    } else if (awake_.load(std::memory_order_relaxed)) {
      spin.once();
    } else {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || awake_.load(std::memory_order_relaxed); });
      if (stop_) return;
    }
  }
}

}  // namespace matador::cpu
