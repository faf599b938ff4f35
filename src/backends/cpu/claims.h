// Claims: the items of one loop after another, each handed out once, by threads that may still be
// in a loop that has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace matador::cpu {

class Claims {
 public:
  // Ends the loop, whose items must all be claimed, and says how many the next one has. Nothing can
  // be claimed until open(). One thread prepares and opens.
  void prepare(uint32_t items) {
    // Closed before the count is written: who reads the new count must not claim an item of it
    // under the old number.
    ticket_.store(uint64_t{loop()} << 32 | UINT32_MAX, std::memory_order_relaxed);
    items_.store(items, std::memory_order_release);
  }

  // Begins the loop that was prepared: what was written before is seen by all who claim. Returns
  // its number.
  uint32_t open() {
    const uint32_t next = loop() + 1;
    ticket_.store(uint64_t{next} << 32, std::memory_order_release);
    return next;
  }

  // The loop that was opened last; 0: none yet.
  uint32_t loop() const { return loop_of(ticket_.load(std::memory_order_acquire)); }

  // An item of `loop`; none where all are claimed or it has ended.
  std::optional<uint32_t> claim(uint32_t loop) {
    uint64_t ticket = ticket_.load(std::memory_order_acquire);
    const uint32_t items = items_.load(std::memory_order_acquire);
    do {
      if (loop_of(ticket) != loop || static_cast<uint32_t>(ticket) >= items) return std::nullopt;
    } while (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
    return static_cast<uint32_t>(ticket);
  }

 private:
  static uint32_t loop_of(uint64_t ticket) { return static_cast<uint32_t>(ticket >> 32); }

  alignas(64) std::atomic<uint64_t> ticket_{0};  // the loop's number above, its next item below
  std::atomic<uint32_t> items_{0};
};

}  // namespace matador::cpu
