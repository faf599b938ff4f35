#include "weights/gguf_parser.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "core/utf8.h"
#include "weights/tensor_list.h"

static_assert(std::endian::native == std::endian::little, "files are read in place");

namespace matador {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint64_t kMinEntryBytes = 8 + 4 + 1;
constexpr uint64_t kMinTensorBytes = 8 + 4 + 4 + 8;
constexpr uint32_t kMaxDims = 4;
constexpr int kMaxArrayDepth = 4;
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;

std::string quoted(std::string_view name) { return '"' + printable(name) + '"'; }

// The least an element takes in the file; 0 for an unknown type.
uint64_t min_bytes(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean: return 1;
    case GgufType::u16:
    case GgufType::i16: return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32: return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64:
    case GgufType::string: return 8;
    case GgufType::array: return 4 + 8;
  }
  return 0;
}

Error in_context(const std::string& context, const Error& error) {
  return {error.code, context + ": " + error.message};
}

Error truncated(const ByteCursor& cursor, std::string_view wanted) {
  return invalid_argument("the file ends in or before its " + std::string(wanted) + ", " +
                          std::to_string(cursor.remaining()) + " bytes after offset " +
                          std::to_string(cursor.offset()));
}

}  // namespace

GgufParser::GgufParser(std::span<const std::byte> bytes, std::string source,
                       std::shared_ptr<const void> owner)
    : bytes_(bytes), cursor_(bytes), owner_(std::move(owner)), file_(std::make_shared<GgufFile>()) {
  file_->source_ = std::move(source);
  file_->owner_ = owner_;
}

Result<std::shared_ptr<GgufFile>> GgufParser::parse() {
  Status status = parse_header();
  for (uint64_t i = 0; status && i < num_entries_; ++i) status = parse_entry(i);
  for (uint64_t i = 0; status && i < num_tensors_; ++i) status = parse_tensor(i);
  if (status) status = place_tensors();
  if (!status) return in_context(file_->source_, status.error());
  if (Status sorted = sort_by_name(file_->tensors_, file_->source_); !sorted) {
    return sorted.error();
  }
  return file_;
}

Status GgufParser::append(GgufFile& file, const GgufFile& part) {
  file.tensors_.insert(file.tensors_.end(), part.tensors_.begin(), part.tensors_.end());
  return sort_by_name(file.tensors_, part.source_);
}

Status GgufParser::parse_header() {
  const auto magic = cursor_.number<uint32_t>();
  if (cursor_.failed() || magic != kMagic) {
    return invalid_argument("not a GGUF file: it does not begin with \"GGUF\"");
  }
  file_->version_ = cursor_.number<uint32_t>();
  num_tensors_ = cursor_.number<uint64_t>();
  num_entries_ = cursor_.number<uint64_t>();
  if (cursor_.failed()) return truncated(cursor_, "header");
  if (file_->version_ != 0 && (file_->version_ & 0xFFFF) == 0) {
    return unsupported("a big-endian GGUF file, expected little-endian");
  }
  if (file_->version_ != 2 && file_->version_ != 3) {
    return unsupported("GGUF version " + std::to_string(file_->version_) + ", expected 2 or 3");
  }
  const uint64_t left = cursor_.remaining();
  if (num_entries_ > left / kMinEntryBytes || num_tensors_ > left / kMinTensorBytes) {
    return invalid_argument("claims " + std::to_string(num_entries_) + " metadata entries and " +
                            std::to_string(num_tensors_) + " tensors, too many for its " +
                            std::to_string(bytes_.size()) + " bytes");
  }
  return {};
}

Status GgufParser::parse_entry(uint64_t index) {
  const std::string position =
      "metadata entry " + std::to_string(index + 1) + " of " + std::to_string(num_entries_);
  const std::string_view key = cursor_.text();
  if (cursor_.failed()) return in_context(position, truncated(cursor_, "key"));
  if (!is_utf8(key)) {
    return invalid_argument(position + ": key " + quoted(key) + " is not UTF-8");
  }
  GgufFile::Value value;
  if (Status parsed = parse_value(value); !parsed) {
    return in_context(position + ", " + quoted(key), parsed.error());
  }
  if (!file_->metadata_.emplace(key, value).second) {
    return invalid_argument(position + ": key " + quoted(key) + " appears twice");
  }
  return {};
}

Status GgufParser::parse_value(GgufFile::Value& value) {
  value.type = static_cast<GgufType>(cursor_.number<uint32_t>());
  value.element = value.type;
  if (value.type == GgufType::array) {
    value.element = static_cast<GgufType>(cursor_.number<uint32_t>());
    value.count = cursor_.number<uint64_t>();
  }
  if (cursor_.failed()) return truncated(cursor_, "value");
  const size_t begin = cursor_.offset();
  if (Status skipped = skip_elements(value.element, value.count, 1); !skipped) return skipped;
  value.bytes = bytes_.subspan(begin, cursor_.offset() - begin);
  return {};
}

Status GgufParser::skip_elements(GgufType type, uint64_t count, int depth) {
  const uint64_t each = min_bytes(type);
  if (each == 0) {
    return invalid_argument("value type " + std::to_string(static_cast<uint32_t>(type)) +
                            ", expected 0 to 12");
  }
  if (count > cursor_.remaining() / each) {
    return invalid_argument(std::to_string(count) + " values of at least " + std::to_string(each) +
                            " bytes, but the file has " + std::to_string(cursor_.remaining()) +
                            " after offset " + std::to_string(cursor_.offset()));
  }
  if (type != GgufType::string && type != GgufType::array) {
    cursor_.take(count * each);
    return {};
  }
  if (depth > kMaxArrayDepth) {
    return unsupported("arrays nested deeper than " + std::to_string(kMaxArrayDepth) + " levels");
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (type == GgufType::string) {
      cursor_.text();
      if (cursor_.failed()) return truncated(cursor_, "string " + std::to_string(i));
      continue;
    }
    const auto inner_type = static_cast<GgufType>(cursor_.number<uint32_t>());
    const auto inner_count = cursor_.number<uint64_t>();
    if (cursor_.failed()) return truncated(cursor_, "nested array");
    if (Status inner = skip_elements(inner_type, inner_count, depth + 1); !inner) return inner;
  }
  return {};
}

Status GgufParser::parse_tensor(uint64_t index) {
  const std::string position =
      "tensor " + std::to_string(index + 1) + " of " + std::to_string(num_tensors_);
  const std::string_view name = cursor_.text();
  if (cursor_.failed()) return in_context(position, truncated(cursor_, "name"));
  if (!is_utf8(name)) {
    return invalid_argument(position + ": name " + quoted(name) + " is not UTF-8");
  }
  StoredTensor tensor;
  tensor.name = name;
  if (Status laid_out = parse_layout(tensor); !laid_out) {
    return in_context("tensor " + quoted(name), laid_out.error());
  }
  file_->tensors_.push_back(std::move(tensor));
  return {};
}

// Dimensions (innermost first in the file), type and offset.
Status GgufParser::parse_layout(StoredTensor& tensor) {
  const auto num_dims = cursor_.number<uint32_t>();
  if (num_dims > kMaxDims) {
    return invalid_argument(std::to_string(num_dims) + " dimensions, expected at most " +
                            std::to_string(kMaxDims));
  }
  uint64_t values = 1;
  bool overflow = false;
  for (uint32_t i = 0; i < num_dims; ++i) {
    const auto dim = cursor_.number<uint64_t>();
    overflow |= dim > INT64_MAX || __builtin_mul_overflow(values, dim, &values);
    tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(dim));
  }
  const auto type = cursor_.number<uint32_t>();
  offsets_.push_back(cursor_.number<uint64_t>());
  if (cursor_.failed()) return truncated(cursor_, "dimensions, type or offset");
  tensor.format = type > INT32_MAX ? nullptr : find_ggml_format(static_cast<int>(type));
  if (tensor.format == nullptr) {
    return unsupported("type " + std::to_string(type) + " is not a known ggml type");
  }
  const auto block_values = static_cast<uint64_t>(tensor.format->block_values);
  const int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (row % tensor.format->block_values != 0) {
    return invalid_argument("rows of " + std::to_string(row) + " values, expected a multiple of " +
                            std::to_string(block_values) + " for " +
                            std::string(tensor.format->name));
  }
  overflow |= __builtin_mul_overflow(values / block_values,
                                     static_cast<uint64_t>(tensor.format->block_bytes), &values);
  if (overflow || values > INT64_MAX) return invalid_argument("its dimensions overflow 2^63 bytes");
  tensor.bytes = values;
  return {};
}

Result<uint64_t> GgufParser::alignment() const {
  if (!file_->has("general.alignment")) return kDefaultAlignment;
  const std::optional<int64_t> value = file_->integer("general.alignment");
  const auto alignment = static_cast<uint64_t>(value.value_or(0));
  if (!std::has_single_bit(alignment) || alignment < 8 || alignment > kMaxAlignment) {
    return invalid_argument("general.alignment is " +
                            (value ? std::to_string(*value) : "not an integer") +
                            ", expected a power of two from 8 to " + std::to_string(kMaxAlignment));
  }
  return alignment;
}

Status GgufParser::place_tensors() {
  Result<uint64_t> aligned_to = alignment();
  if (!aligned_to) return aligned_to.error();
  const uint64_t begin = (cursor_.offset() + *aligned_to - 1) / *aligned_to * *aligned_to;
  const uint64_t available = begin < bytes_.size() ? bytes_.size() - begin : 0;
  for (size_t i = 0; i < file_->tensors_.size(); ++i) {
    StoredTensor& tensor = file_->tensors_[i];
    const uint64_t offset = offsets_[i];
    if (offset % *aligned_to != 0) {
      return invalid_argument("tensor " + quoted(tensor.name) + ": offset " +
                              std::to_string(offset) + ", expected a multiple of " +
                              std::to_string(*aligned_to));
    }
    if (offset > available || tensor.bytes > available - offset) {
      return invalid_argument("tensor " + quoted(tensor.name) + ": " +
                              std::to_string(tensor.bytes) + " bytes at offset " +
                              std::to_string(offset) + " of the data, but the file holds " +
                              std::to_string(available));
    }
    tensor.data = bytes_.data() + begin + offset;
    tensor.owner = owner_;
  }
  return check_overlaps();
}

Status GgufParser::check_overlaps() const {
  std::vector<const StoredTensor*> order;
  for (const StoredTensor& tensor : file_->tensors_) {
    if (tensor.bytes > 0) order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(),
            [](const StoredTensor* a, const StoredTensor* b) { return a->data < b->data; });
  const auto overlap = std::adjacent_find(
      order.begin(), order.end(),
      [](const StoredTensor* a, const StoredTensor* b) { return a->data + a->bytes > b->data; });
  if (overlap == order.end()) return {};
  return invalid_argument("tensors " + quoted(overlap[0]->name) + " and " +
                          quoted(overlap[1]->name) + " overlap in the file");
}

}  // namespace matador
