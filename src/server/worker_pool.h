// WorkerPool: threads for work that would hold up the connections. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace matador {

class WorkerPool {
 public:
  explicit WorkerPool(int num_threads);
  ~WorkerPool();  // does what was posted, then ends
  void post(std::function<void()> work);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> queue_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace matador
