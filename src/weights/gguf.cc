#include "weights/gguf.h"

#include <limits>
#include <type_traits>

#include "weights/byte_cursor.h"

namespace matador {
namespace {

// Calls visit.template operator()<T>() with the C++ type of a numeric metadata type.
template <class Visitor>
auto visit_number(GgufType type, Visitor&& visit) {
  switch (type) {
    case GgufType::u8: return visit.template operator()<uint8_t>();
    case GgufType::i8: return visit.template operator()<int8_t>();
    case GgufType::u16: return visit.template operator()<uint16_t>();
    case GgufType::i16: return visit.template operator()<int16_t>();
    case GgufType::u32: return visit.template operator()<uint32_t>();
    case GgufType::i32: return visit.template operator()<int32_t>();
    case GgufType::u64: return visit.template operator()<uint64_t>();
    case GgufType::i64: return visit.template operator()<int64_t>();
    case GgufType::f32: return visit.template operator()<float>();
    case GgufType::f64: return visit.template operator()<double>();
    default: return visit.template operator()<void>();
  }
}

// Reads one element; nothing where it is of another kind.
std::optional<int64_t> read_integer(GgufType type, ByteCursor& cursor) {
  return visit_number(type, [&]<class T>() -> std::optional<int64_t> {
    if constexpr (std::is_integral_v<T>) {
      const T value = cursor.number<T>();
      if (std::is_same_v<T, uint64_t> && static_cast<int64_t>(value) < 0) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    return std::nullopt;
  });
}

std::optional<double> read_number(GgufType type, ByteCursor& cursor) {
  return visit_number(type, [&]<class T>() -> std::optional<double> {
    if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(cursor.number<T>());
    return std::nullopt;
  });
}

std::optional<bool> read_boolean(GgufType type, ByteCursor& cursor) {
  if (type != GgufType::boolean) return std::nullopt;
  return cursor.number<uint8_t>() != 0;
}

std::optional<std::string> read_text(GgufType type, ByteCursor& cursor) {
  if (type != GgufType::string) return std::nullopt;
  return std::string(cursor.text());
}

template <class T>
using Reader = std::optional<T> (*)(GgufType, ByteCursor&);

template <class Value, class T>
std::optional<T> read_one(const Value* value, Reader<T> read) {
  if (value == nullptr) return std::nullopt;
  ByteCursor cursor(value->bytes);
  return read(value->type, cursor);
}

template <class Value, class T>
std::optional<std::vector<T>> read_all(const Value* value, Reader<T> read) {
  if (value == nullptr || value->type != GgufType::array) return std::nullopt;
  ByteCursor cursor(value->bytes);
  std::vector<T> items;
  for (uint64_t i = 0; i < value->count; ++i) {
    std::optional<T> item = read(value->element, cursor);
    if (!item) return std::nullopt;
    items.push_back(std::move(*item));
  }
  return items;
}

}  // namespace

const GgufFile::Value* GgufFile::find(std::string_view key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

bool GgufFile::has(std::string_view key) const { return find(key) != nullptr; }

std::optional<int64_t> GgufFile::integer(std::string_view key) const {
  return read_one(find(key), read_integer);
}
std::optional<double> GgufFile::number(std::string_view key) const {
  return read_one(find(key), read_number);
}
std::optional<bool> GgufFile::boolean(std::string_view key) const {
  return read_one(find(key), read_boolean);
}
std::optional<std::string> GgufFile::text(std::string_view key) const {
  return read_one(find(key), read_text);
}
std::optional<std::vector<int64_t>> GgufFile::integers(std::string_view key) const {
  return read_all(find(key), read_integer);
}
std::optional<std::vector<double>> GgufFile::numbers(std::string_view key) const {
  return read_all(find(key), read_number);
}
std::optional<std::vector<bool>> GgufFile::booleans(std::string_view key) const {
  return read_all(find(key), read_boolean);
}
std::optional<std::vector<std::string>> GgufFile::texts(std::string_view key) const {
  return read_all(find(key), read_text);
}

std::vector<std::string> GgufFile::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : metadata_) keys.push_back(key);
  return keys;
}

}  // namespace matador
