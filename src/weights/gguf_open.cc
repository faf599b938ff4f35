// Opening GGUF files, whole or split into parts as gguf-split writes them.
#include <cstdio>
#include <utility>

#include "core/file.h"
#include "weights/gguf.h"
#include "weights/gguf_parser.h"
#include "weights/tensor_list.h"

namespace matador {
namespace {

constexpr int64_t kMaxParts = 99999;

// "-00001-of-00003.gguf"
std::string part_suffix(int64_t part, int64_t count) {
  char suffix[64];
  std::snprintf(suffix, sizeof(suffix), "-%05lld-of-%05lld.gguf", static_cast<long long>(part),
                static_cast<long long>(count));
  return suffix;
}

Status add_part(GgufFile& file, const std::string& path, int64_t index, int64_t count) {
  Result<std::shared_ptr<GgufFile>> part = GgufParser::open(path);
  if (!part) return part.error();
  const int64_t found_index = (*part)->integer("split.no").value_or(-1);
  const int64_t found_count = (*part)->integer("split.count").value_or(-1);
  if (found_index != index || found_count != count) {
    return invalid_argument(path + ": split.no and split.count are " + std::to_string(found_index) +
                            " and " + std::to_string(found_count) + ", expected " +
                            std::to_string(index) + " and " + std::to_string(count));
  }
  return GgufParser::append(file, **part);
}

}  // namespace

Result<std::shared_ptr<GgufFile>> GgufParser::open(const std::string& path) {
  Result<std::shared_ptr<const MappedFile>> mapped = MappedFile::open(path);
  if (!mapped) return mapped.error();
  Result<std::shared_ptr<GgufFile>> file = GgufParser((*mapped)->bytes(), path, *mapped).parse();
  if (file) mark_mapped((*file)->tensors_, **mapped);
  return file;
}

Result<std::shared_ptr<const GgufFile>> GgufFile::parse(std::span<const std::byte> bytes,
                                                        std::string source,
                                                        std::shared_ptr<const void> owner) {
  Result<std::shared_ptr<GgufFile>> file =
      GgufParser(bytes, std::move(source), std::move(owner)).parse();
  if (!file) return file.error();
  return std::shared_ptr<const GgufFile>(std::move(*file));
}

Result<std::shared_ptr<const GgufFile>> GgufFile::open(const std::string& path) {
  Result<std::shared_ptr<GgufFile>> first = GgufParser::open(path);
  if (!first) return first.error();
  GgufFile& file = **first;
  const int64_t count = file.integer("split.count").value_or(1);
  const int64_t index = file.integer("split.no").value_or(0);
  if (count <= 1) return std::shared_ptr<const GgufFile>(std::move(*first));
  const std::string suffix = part_suffix(1, count);
  if (index != 0 || count > kMaxParts || !path.ends_with(suffix)) {
    return invalid_argument(path + ": part " + std::to_string(index + 1) + " of " +
                            std::to_string(count) +
                            " of a split model, expected the first, named *" + suffix);
  }
  const std::string stem = path.substr(0, path.size() - suffix.size());
  for (int64_t i = 1; i < count; ++i) {
    Status added = add_part(file, stem + part_suffix(i + 1, count), i, count);
    if (!added) return added.error();
  }
  const auto total = static_cast<int64_t>(file.tensors_.size());
  const int64_t expected = file.integer("split.tensors.count").value_or(total);
  if (total != expected) {
    return invalid_argument(path + ": the parts hold " + std::to_string(total) +
                            " tensors, expected split.tensors.count " + std::to_string(expected));
  }
  return std::shared_ptr<const GgufFile>(std::move(*first));
}

}  // namespace matador
