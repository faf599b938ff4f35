// Format: how one kind of weight is stored. Plain dtypes (f32, f16, bf16) are formats with one
// value a block, so that nothing above needs to ask "quantised or not".
//
// A format is one header in quant/formats/ which holds the block's layout and its decode (and,
// where it is useful, encode). CMake globs that folder into quant/all_formats.h, from which the
// table below and the backends' generic kernels are built: adding a format is adding its header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace matador {

struct Format {
  std::string_view name;  // "q4_0", "bf16"
  int block_values = 1;   // values a block holds, along a row
  int block_bytes = 0;
  int ggml_type = -1;  // id in GGUF files, -1 where GGUF has none
  // `count` is a multiple of block_values; `blocks` may lie at any address.
  void (*decode)(const std::byte* blocks, float* values, int64_t count) = nullptr;
  // Null where the format can only be read.
  void (*encode)(const float* values, std::byte* blocks, int64_t count) = nullptr;

  int64_t bytes(int64_t values) const { return values / block_values * block_bytes; }
};

std::span<const Format> formats();
// Null when there is none.
const Format* find_format(std::string_view name);
const Format* find_ggml_format(int ggml_type);

}  // namespace matador
