// BatchRunner: a thread that works on the store's batches, the oldest first, until each has ended.
// All it knows is in the store, so that a process that is killed goes on where it was.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/batch_session.h"
#include "store/store.h"

namespace matador {

class BatchRunner {
 public:
  // Answers one line, in the name of the batch's owner.
  using Perform =
      std::function<void(HttpRequest, std::shared_ptr<Exchange>, const std::string& owner)>;

  // `width`: lines at a time. Nothing is begun any more once `draining`.
  BatchRunner(Store& store, size_t width, const std::atomic<bool>& draining);
  ~BatchRunner();

  void start(Perform perform);
  // There is a new batch, or one was cancelled.
  void wake();

 private:
  void run();
  void advance(const BatchJob& batch);
  void validate(const BatchJob& batch);
  void answer_lines(const BatchJob& batch);
  BatchSession::Work work_on(const BatchJob& batch, std::string_view text);
  bool should_stop(const BatchJob& batch) const;
  void expire(const BatchJob& batch);
  void finish(const BatchJob& batch, BatchStatus end);
  std::optional<StoredFile> write_answers(const BatchJob& batch, bool ok);

  Store& store_;
  const size_t width_;
  const std::atomic<bool>& draining_;
  Perform perform_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace matador
