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
  claims_.prepare(items);
  context_.store(context, std::memory_order_relaxed);
  call_.store(call, std::memory_order_relaxed);
  finished_.store(0, std::memory_order_relaxed);
  work(claims_.open(), 0);
  Spin spin;
  while (finished_.load(std::memory_order_acquire) < items) spin.once();
}

void ThreadPool::work(uint32_t loop, int thread) {
  while (const std::optional<uint32_t> item = claims_.claim(loop)) {
    const Call call = call_.load(std::memory_order_relaxed);
    call(context_.load(std::memory_order_relaxed), *item, thread);
    finished_.fetch_add(1, std::memory_order_release);
  }
}

void ThreadPool::serve(int thread) {
  uint32_t seen = 0;
  Spin spin;
  for (;;) {
    const uint32_t loop = claims_.loop();
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
