#include "engine/mask_workers.h"

#include <utility>

#include "core/check.h"

namespace matador {

MaskWorkers::~MaskWorkers() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    todo_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

MaskWorkers::Pending MaskWorkers::start(std::vector<TokenMask*> masks) {
  if (masks.empty()) return Pending(*this);
  {
    std::lock_guard lock(mutex_);
    CHECK(num_open_ == 0);
    num_open_ = masks.size();
    todo_ = std::move(masks);
  }
  while (threads_.size() < static_cast<size_t>(num_threads_)) {
    threads_.emplace_back([this] { work(); });
  }
  changed_.notify_all();
  return Pending(*this);
}

// Helps with what nobody has begun.
void MaskWorkers::wait() {
  std::unique_lock lock(mutex_);
  while (prepare_one(lock)) {
  }
  changed_.wait(lock, [&] { return num_open_ == 0; });
}

void MaskWorkers::work() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (!prepare_one(lock)) changed_.wait(lock, [&] { return closed_ || !todo_.empty(); });
  }
}

// False: there is none. The lock is released meanwhile.
bool MaskWorkers::prepare_one(std::unique_lock<std::mutex>& lock) {
  if (todo_.empty()) return false;
  TokenMask* mask = todo_.back();
  todo_.pop_back();
  lock.unlock();
  mask->prepare();
  lock.lock();
  if (--num_open_ == 0) changed_.notify_all();
  return true;
}

}  // namespace matador
