// TokenBucket: a limit of so much a minute. It fills at an even rate up to a minute's worth, and
// may be drawn below nothing by what was not known beforehand. Not synchronised; times must not go
// backwards.
#pragma once

#include <algorithm>
#include <chrono>

namespace matador {

class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  TokenBucket(double per_minute, Clock::time_point now)
      : capacity_(per_minute), level_(per_minute), time_(now) {}

  double level(Clock::time_point now) {
    level_ = std::min(capacity_, level_ + rate() * seconds(now - time_));
    time_ = now;
    return level_;
  }
  void take(double amount, Clock::time_point now) { level_ = level(now) - amount; }
  // Until the level is `wanted`, or the bucket full.
  std::chrono::duration<double> time_until(double wanted, Clock::time_point now) {
    return std::chrono::duration<double>(
        std::max(0.0, (std::min(wanted, capacity_) - level(now)) / rate()));
  }
  double capacity() const { return capacity_; }

 private:
  static double seconds(Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  }
  double rate() const { return capacity_ / 60; }  // a second

  double capacity_, level_;
  Clock::time_point time_;
};

}  // namespace matador
