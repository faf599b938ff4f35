// Inbox: commands on their way to the engine's thread, in order. Any thread may push; one drains.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "engine/request.h"

namespace matador {

struct Submit {
  RequestId id = 0;
  Request request;
  uint64_t seed = 0;
};
struct Cancel {
  RequestId id = 0;
  int32_t choice = -1;
};
using Command = std::variant<Submit, Cancel>;

class Inbox {
 public:
  void push(Command command) {
    {
      std::lock_guard lock(mutex_);
      commands_.push_back(std::move(command));
    }
    changed_.notify_one();
  }

  // Everything pushed so far.
  std::vector<Command> drain() {
    std::lock_guard lock(mutex_);
    return std::exchange(commands_, {});
  }

  // Sleeps until there is something to drain or the inbox is closed.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !commands_.empty(); });
  }

  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_one();
  }
  bool closed() const {
    std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Command> commands_;
  bool closed_ = false;
};

}  // namespace matador
