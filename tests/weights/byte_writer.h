// Builds files in memory, so that tests can make them lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weights/gguf.h"

namespace matador {

// Little-endian fields one after the other.
class ByteWriter {
 public:
  template <class T>
  ByteWriter& number(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
    return *this;
  }
  ByteWriter& raw(std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
    return *this;
  }
  ByteWriter& text(std::string_view value) {
    number(uint64_t{value.size()});
    return raw(value);
  }
  ByteWriter& append(const ByteWriter& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }
  ByteWriter& pad(size_t alignment, size_t extra = 0) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment + extra);
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// A GGUF file; counts follow what is added unless they are overwritten.
struct GgufWriter {
  uint32_t version = 3;
  uint64_t num_entries = 0;
  uint64_t num_tensors = 0;
  ByteWriter entries;
  ByteWriter tensors;
  size_t data_bytes = 0;

  ByteWriter& entry(std::string_view key, GgufType type) {
    ++num_entries;
    return entries.text(key).number(type);
  }
  void add(std::string_view key, uint32_t value) { entry(key, GgufType::u32).number(value); }
  void add(std::string_view key, float value) { entry(key, GgufType::f32).number(value); }
  void add(std::string_view key, std::string_view value) {
    entry(key, GgufType::string).text(value);
  }
  // Dimensions are innermost first. `data_bytes` grows to hold the tensor if it is honest.
  void tensor(std::string_view name, std::vector<uint64_t> dims, uint32_t type, uint64_t offset) {
    ++num_tensors;
    tensors.text(name).number(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) tensors.number(dim);
    tensors.number(type).number(offset);
  }
  std::vector<std::byte> bytes() const {
    ByteWriter out;
    out.raw("GGUF").number(version).number(num_tensors).number(num_entries);
    return out.append(entries).append(tensors).pad(32, data_bytes).bytes();
  }
  Result<std::shared_ptr<const GgufFile>> parse() const {
    auto owned = std::make_shared<const std::vector<std::byte>>(bytes());
    return GgufFile::parse(*owned, "test.gguf", owned);
  }
};

// A safetensors file of this header and so many bytes of data.
inline std::vector<std::byte> safetensors_bytes(std::string_view header, size_t data_bytes) {
  ByteWriter out;
  out.text(header).pad(1, data_bytes);
  return out.bytes();
}

}  // namespace matador
