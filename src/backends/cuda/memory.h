// Owners of device memory and of page-locked host memory. All throw when out of memory, with the
// figures; none is safe to free while the device still uses it.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/backend.h"

namespace matador::cuda {

class DeviceMemory final : public Buffer {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory() override;

  void* data() const override { return data_; }
  size_t size() const override { return bytes_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  // Makes room for `bytes`; the content is lost where that moves it. True where it did.
  bool reserve(size_t bytes);

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  void reserve(size_t bytes);

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

// Where a step's activations live: first fit in a list of chunks that grows as needed. The same
// sequence of calls after `clear` gives the same addresses, which replayed graphs rely on.
class Arena {
 public:
  std::byte* allocate(size_t bytes);
  // Frees all ranges but those that contain one of these addresses.
  void release_except(const std::vector<const std::byte*>& live);
  void clear();

 private:
  struct Range {
    std::byte* begin;
    size_t bytes;
    bool used;
  };
  struct Chunk {
    DeviceMemory memory;
    std::vector<Range> ranges;  // covers the chunk, in order of address
  };
  static std::byte* take(Chunk& chunk, size_t bytes);
  static void merge_free(Chunk& chunk);

  std::vector<Chunk> chunks_;
};

}  // namespace matador::cuda
