// Files, read whole or mapped into memory. Errors name the path and the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"

namespace matador {

// The whole of a regular file, refused when larger than `limit` bytes.
Result<std::string> read_file(const std::string& path, uint64_t limit);

// A file mapped read-only, pages being read on first use; immutable, any thread may read it. The
// file must not be truncated while it is mapped: the system answers a later read with SIGBUS.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, std::byte* data, size_t size);

  std::string path_;
  std::byte* data_;
  size_t size_;
};

}  // namespace matador
