// MaskWorkers: threads that prepare the token masks of a step while the device computes it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/token_mask.h"

namespace matador {

// For one thread. The masks do not depend on the number of workers.
class MaskWorkers {
 public:
  explicit MaskWorkers(int num_threads) : num_threads_(num_threads) {}
  ~MaskWorkers();

  // Its end waits for the masks, also where the step throws.
  class Pending {
   public:
    explicit Pending(MaskWorkers& workers) : workers_(workers) {}
    ~Pending() { workers_.wait(); }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    void wait() { workers_.wait(); }

   private:
    MaskWorkers& workers_;
  };
  // Prepares these, each once, and returns at once. The last ones must be done.
  [[nodiscard]] Pending start(std::vector<TokenMask*> masks);

 private:
  void wait();
  void work();
  bool prepare_one(std::unique_lock<std::mutex>& lock);

  const int num_threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<TokenMask*> todo_;  // this and the rest: guarded by mutex_
  size_t num_open_ = 0;           // in todo_ or being prepared
  bool closed_ = false;
  std::vector<std::thread> threads_;  // started by the first masks
};

}  // namespace matador
