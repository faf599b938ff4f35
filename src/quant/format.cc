#include "quant/format.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "quant/all_formats.h"

namespace matador {
namespace {

template <class F>
void decode_blocks(const std::byte* blocks, float* values, int64_t count) {
  typename F::Block block;  // copied, for its alignment
  for (int64_t i = 0; i < count; i += F::values, blocks += sizeof(block)) {
    std::memcpy(&block, blocks, sizeof(block));
    F::decode(block, values + i);
  }
}

template <class F>
void encode_blocks(const float* values, std::byte* blocks, int64_t count) {
  typename F::Block block{};
  for (int64_t i = 0; i < count; i += F::values, blocks += sizeof(block)) {
    F::encode(values + i, block);
    std::memcpy(blocks, &block, sizeof(block));
  }
}

template <class F>
constexpr Format describe() {
  Format format{F::name, F::values, sizeof(typename F::Block), F::ggml_type, decode_blocks<F>};
  if constexpr (Encodable<F>) format.encode = encode_blocks<F>;
  return format;
}

constexpr auto kFormats = [] {
  std::array<Format, AllFormats::size> table;
  size_t next = 0;
  AllFormats::for_each([&]<class F>() { table[next++] = describe<F>(); });
  return table;
}();

template <class Predicate>
const Format* find_if(Predicate matches) {
  const auto* found = std::find_if(kFormats.begin(), kFormats.end(), matches);
  return found == kFormats.end() ? nullptr : found;
}

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format* find_format(std::string_view name) {
  return find_if([&](const Format& format) { return format.name == name; });
}

const Format* find_ggml_format(int ggml_type) {
  if (ggml_type < 0) return nullptr;
  return find_if([&](const Format& format) { return format.ggml_type == ggml_type; });
}

}  // namespace matador
