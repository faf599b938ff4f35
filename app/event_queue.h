// EventQueue: takes a request's events from the engine's thread to the one that waits for them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/request.h"

namespace matador {

class EventQueue : public EventSink {
 public:
  void push(Event event) override {
    std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    arrived_.notify_one();
  }

  Event pop() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !events_.empty(); });
    return take();
  }
  // Nothing when none arrives in time.
  std::optional<Event> pop_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, time, [&] { return !events_.empty(); })) return std::nullopt;
    return take();
  }

 private:
  Event take() {
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Event> events_;
};

}  // namespace matador
