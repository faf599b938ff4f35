// ThreadPool: a loop's items shared out to a few threads, cheaply enough for loops of 10 us.
//
// While an Awake lives the workers spin, so that a loop starts within about a microsecond;
// otherwise they sleep. Items are claimed one by one, so a thread that the system has put aside
// delays only the item it holds. The thread that calls takes part and is thread 0.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/cpu/claims.h"

namespace matador::cpu {

class ThreadPool {
 public:
  // Starts threads - 1 workers.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  class Awake {
   public:
    explicit Awake(ThreadPool& pool) : pool_(pool) { pool.begin(); }
    ~Awake() { pool_.end(); }
    Awake(const Awake&) = delete;
    Awake& operator=(const Awake&) = delete;

   private:
    ThreadPool& pool_;
  };

  // Calls body(item, thread) for each item of [0, items), and returns when all are done. Only
  // while an Awake lives; not reentrant. `body` may not throw.
  template <class Body>
  void run(int64_t items, const Body& body) {
    if (items <= 1 || workers_.empty()) {
      for (int64_t i = 0; i < items; ++i) body(i, 0);
      return;
    }
    share(static_cast<uint32_t>(items), &body, [](const void* context, uint32_t item, int thread) {
      (*static_cast<const Body*>(context))(int64_t{item}, thread);
    });
  }

 private:
  using Call = void (*)(const void* context, uint32_t item, int thread);

  void begin();
  void end();
  void share(uint32_t items, const void* context, Call call);
  // Claims and runs items of loop `loop` until none is left.
  void work(uint32_t loop, int thread);
  void serve(int thread);

  // Who holds an item keeps its loop from ending, so until then nobody writes the two fields below.
  Claims claims_;
  std::atomic<const void*> context_{nullptr};
  std::atomic<Call> call_{nullptr};
  alignas(64) std::atomic<uint32_t> finished_{0};

  alignas(64) std::atomic<bool> awake_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;  // guarded by mutex_
  std::vector<std::thread> workers_;
};

}  // namespace matador::cpu
