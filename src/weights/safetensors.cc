#include "weights/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "core/json.h"
#include "core/utf8.h"

static_assert(std::endian::native == std::endian::little, "files are read in place");

namespace matador {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr JsonLimits kHeaderLimits{.bytes = 100'000'000, .depth = 8, .unique_keys = true};

struct DtypeName {
  std::string_view dtype;
  std::string_view format;
};
constexpr std::array<DtypeName, 12> kDtypes = {{{"F64", "f64"},
                                                {"F32", "f32"},
                                                {"F16", "f16"},
                                                {"BF16", "bf16"},
                                                {"F8_E4M3", "f8_e4m3"},
                                                {"F8_E5M2", "f8_e5m2"},
                                                {"I64", "i64"},
                                                {"I32", "i32"},
                                                {"I16", "i16"},
                                                {"I8", "i8"},
                                                {"U8", "u8"},
                                                {"BOOL", "u8"}}};

Result<const Format*> format_of(const std::string& dtype) {
  std::string known;
  for (const DtypeName& name : kDtypes) {
    if (name.dtype == dtype) return find_format(name.format);
    known += (known.empty() ? "" : ", ") + std::string(name.dtype);
  }
  return unsupported("dtype is \"" + dtype + "\", expected one of " + known);
}

Result<std::vector<int64_t>> shape_of(const nlohmann::json& entry) {
  const auto shape = entry.find("shape");
  if (shape == entry.end() || !shape->is_array()) {
    return invalid_argument("\"shape\" is missing or not an array");
  }
  std::vector<int64_t> dims;
  for (const auto& dim : *shape) {
    if (!dim.is_number_unsigned() || dim.get<uint64_t>() > INT64_MAX) {
      return invalid_argument("shape has " + dump_json(dim) + ", expected whole numbers");
    }
    dims.push_back(dim.get<int64_t>());
  }
  return dims;
}

struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

Result<ByteRange> range_of(const nlohmann::json& entry, uint64_t available) {
  const auto offsets = entry.find("data_offsets");
  if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2 ||
      !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
    return invalid_argument("\"data_offsets\" is missing or not a pair of whole numbers");
  }
  const ByteRange range{(*offsets)[0].get<uint64_t>(), (*offsets)[1].get<uint64_t>()};
  if (range.begin > range.end || range.end > available) {
    return invalid_argument("data_offsets are " + dump_json(*offsets) + ", but the file holds " +
                            std::to_string(available) + " bytes of tensors");
  }
  return range;
}

// Elements of a shape times bytes of each; nothing on overflow.
std::optional<uint64_t> bytes_of(const std::vector<int64_t>& shape, const Format& format) {
  auto bytes = static_cast<uint64_t>(format.block_bytes);
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return std::nullopt;
  }
  return bytes;
}

// A tensor as the header describes it, with its place.
struct Entry {
  StoredTensor tensor;
  ByteRange range;
};

Result<Entry> parse_entry(const nlohmann::json& json, uint64_t available) {
  if (!json.is_object()) return invalid_argument("its description is not an object");
  const auto dtype = json.find("dtype");
  if (dtype == json.end() || !dtype->is_string()) {
    return invalid_argument("\"dtype\" is missing or not a string");
  }
  Result<const Format*> format = format_of(dtype->get<std::string>());
  if (!format) return format.error();
  Result<std::vector<int64_t>> shape = shape_of(json);
  if (!shape) return shape.error();
  Result<ByteRange> range = range_of(json, available);
  if (!range) return range.error();
  const std::optional<uint64_t> bytes = bytes_of(*shape, **format);
  if (!bytes || *bytes != range->end - range->begin) {
    return invalid_argument(
        "shape " + dump_json(json["shape"]) + " of " + dtype->get<std::string>() + " takes " +
        (bytes ? std::to_string(*bytes) : "more than 2^64") + " bytes, but its data_offsets span " +
        std::to_string(range->end - range->begin));
  }
  Entry entry;
  entry.tensor.format = *format;
  entry.tensor.shape = std::move(*shape);
  entry.tensor.bytes = *bytes;
  entry.range = *range;
  return entry;
}

Result<nlohmann::json> parse_header(std::span<const std::byte> bytes, const std::string& source) {
  if (bytes.size() < kLengthBytes) {
    return invalid_argument(source + ": " + std::to_string(bytes.size()) +
                            " bytes, expected a safetensors file of at least 8");
  }
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > bytes.size() - kLengthBytes) {
    return invalid_argument(source + ": the header claims " + std::to_string(length) +
                            " bytes, but the file has " +
                            std::to_string(bytes.size() - kLengthBytes) + " after the length");
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data() + kLengthBytes);
  Result<nlohmann::json> header = parse_json({text, length}, source + ": header", kHeaderLimits);
  if (header && !header->is_object()) {
    return invalid_argument(source + ": the header is a JSON " + header->type_name() +
                            ", expected an object");
  }
  return header;
}

// The ranges must follow each other from the first byte to the last.
Status check_coverage(const std::vector<Entry>& entries, uint64_t available,
                      const std::string& source) {
  std::vector<const Entry*> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->range.begin, a->range.end) < std::pair(b->range.begin, b->range.end);
  });
  uint64_t end = 0;
  for (const Entry* entry : order) {
    if (entry->range.begin != end) {
      return invalid_argument(source + ": tensor \"" + entry->tensor.name + "\": begins at byte " +
                              std::to_string(entry->range.begin) + " of the data, expected " +
                              std::to_string(end) +
                              (entry->range.begin < end ? ": it overlaps another tensor"
                                                        : ": there is a gap before it"));
    }
    end = entry->range.end;
  }
  if (end == available) return {};
  return invalid_argument(source + ": the tensors end at byte " + std::to_string(end) +
                          " of the data, but the file has " + std::to_string(available));
}

// Points the tensor at its bytes, or at an aligned copy of them.
void place(StoredTensor& tensor, const std::byte* data, std::shared_ptr<const void> owner) {
  const auto alignment = std::min<uint64_t>(static_cast<uint64_t>(tensor.format->block_bytes), 8);
  tensor.data = data;
  tensor.owner = std::move(owner);
  if (reinterpret_cast<uintptr_t>(data) % alignment == 0) return;
  std::shared_ptr<std::byte[]> copy(new std::byte[tensor.bytes]);
  std::memcpy(copy.get(), data, tensor.bytes);
  tensor.data = copy.get();
  tensor.owner = std::move(copy);
}

}  // namespace

Result<std::vector<StoredTensor>> read_safetensors(std::span<const std::byte> bytes,
                                                   const std::string& source,
                                                   const std::shared_ptr<const void>& owner) {
  Result<nlohmann::json> header = parse_header(bytes, source);
  if (!header) return header.error();
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  const std::span<const std::byte> data = bytes.subspan(kLengthBytes + length);

  std::vector<Entry> entries;
  for (const auto& [name, json] : header->items()) {
    if (name == "__metadata__") continue;
    Result<Entry> entry = parse_entry(json, data.size());
    if (!entry) {
      return Error{entry.error().code,
                   source + ": tensor \"" + name + "\": " + entry.error().message};
    }
    entry->tensor.name = name;
    entries.push_back(std::move(*entry));
  }
  if (Status covered = check_coverage(entries, data.size(), source); !covered) {
    return covered.error();
  }
  std::vector<StoredTensor> tensors;
  for (Entry& entry : entries) {
    place(entry.tensor, data.data() + entry.range.begin, owner);
    tensors.push_back(std::move(entry.tensor));
  }
  return tensors;
}

}  // namespace matador
