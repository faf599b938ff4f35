// ByteCursor: reads little-endian fields one after the other. A read past the end gives zero or
// an empty text and marks the cursor as failed, so that a run of reads needs one check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace matador {

class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }

  template <class T>
  T number() {
    T value{};
    const std::span<const std::byte> taken = take(sizeof(T));
    if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof(T));
    return value;
  }
  // A text that its length, a 64-bit count, precedes.
  std::string_view text() {
    const std::span<const std::byte> taken = take(number<uint64_t>());
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  std::span<const std::byte> take(uint64_t count) {
    if (failed_ || count > remaining()) {
      failed_ = true;
      return {};
    }
    const std::span<const std::byte> taken = bytes_.subspan(offset_, count);
    offset_ += count;
    return taken;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t offset_ = 0;
  bool failed_ = false;
};

}  // namespace matador
