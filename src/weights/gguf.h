// GgufFile: a GGUF container (versions 2 and 3, little-endian): typed metadata and tensors.
// Specification: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
//
// Opening checks every count, length and offset against the file before anything is allocated
// for it; arrays stay in the mapping until they are asked for. Immutable; any thread may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "weights/checkpoint.h"

namespace matador {

// The types of metadata values, numbered as in the file.
enum class GgufType : uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64,
};

class GgufFile {
 public:
  // Maps a file, and with the first part of a split model (name-00001-of-00003.gguf) the others;
  // the tensors are then those of all parts, the metadata the first part's.
  static Result<std::shared_ptr<const GgufFile>> open(const std::string& path);
  // `bytes` are aligned to 8 and kept alive by `owner`; errors name `source`.
  static Result<std::shared_ptr<const GgufFile>> parse(std::span<const std::byte> bytes,
                                                       std::string source,
                                                       std::shared_ptr<const void> owner);

  const std::string& source() const { return source_; }
  uint32_t version() const { return version_; }

  // Each is empty where the key is absent or holds another kind of value. An integer of any width
  // is an integer and a number; the plural forms read arrays of them.
  bool has(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::vector<int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<double>> numbers(std::string_view key) const;
  std::optional<std::vector<bool>> booleans(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;
  std::vector<std::string> keys() const;

  std::span<const StoredTensor> tensors() const { return tensors_; }  // sorted by name

 private:
  friend class GgufParser;

  // A value in place. For an array, `bytes` are its elements.
  struct Value {
    GgufType type = GgufType::u8;
    GgufType element = GgufType::u8;  // of an array
    uint64_t count = 1;               // elements of an array
    std::span<const std::byte> bytes;
  };
  const Value* find(std::string_view key) const;

  std::string source_;
  uint32_t version_ = 0;
  std::shared_ptr<const void> owner_;  // of what metadata_ points into
  std::map<std::string, Value, std::less<>> metadata_;
  std::vector<StoredTensor> tensors_;
};

}  // namespace matador
