// Arena: the memory of one step's activations. It grows during the first steps and then serves
// every later one without asking the system.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace matador::cpu {

// Bytes from the system, 64-byte aligned, not zeroed unless asked; throws std::bad_alloc.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t size);
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

class Arena {
 public:
  using Range = std::span<const std::byte>;

  // 64-byte aligned. Alive until reset(), or until keep() without it.
  std::byte* allocate(size_t size);
  // Frees all.
  void reset();
  // Frees all that does not overlap one of `ranges`. Others than this arena's are ignored.
  void keep(std::span<const Range> ranges);

 private:
  struct Live {
    size_t begin, end;
  };
  struct Chunk {
    AlignedBytes bytes;
    size_t next = 0;         // where to look for room
    std::vector<Live> live;  // kept by keep(), ascending
  };
  static std::byte* take(Chunk& chunk, size_t size);

  std::vector<Chunk> chunks_;
};

}  // namespace matador::cpu
