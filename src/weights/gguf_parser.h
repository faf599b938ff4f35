// GgufParser: bytes of one GGUF file -> GgufFile. Used through GgufFile::parse and open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "weights/byte_cursor.h"
#include "weights/gguf.h"

namespace matador {

class GgufParser {
 public:
  GgufParser(std::span<const std::byte> bytes, std::string source,
             std::shared_ptr<const void> owner);
  Result<std::shared_ptr<GgufFile>> parse();
  // Maps and parses one file.
  static Result<std::shared_ptr<GgufFile>> open(const std::string& path);
  // Adds the tensors of a further part of a split model.
  static Status append(GgufFile& file, const GgufFile& part);

 private:
  Status parse_header();
  Status parse_entry(uint64_t index);
  Status parse_value(GgufFile::Value& value);
  Status skip_elements(GgufType type, uint64_t count, int depth);
  Status parse_tensor(uint64_t index);
  Status parse_layout(StoredTensor& tensor);
  Status place_tensors();
  Status check_overlaps() const;
  Result<uint64_t> alignment() const;

  std::span<const std::byte> bytes_;
  ByteCursor cursor_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<GgufFile> file_;
  uint64_t num_tensors_ = 0;
  uint64_t num_entries_ = 0;
  std::vector<uint64_t> offsets_;  // of each tensor in the data section
};

}  // namespace matador
