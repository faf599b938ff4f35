// Weight: one matrix of a model in a backend's memory, in some format, or a stack of them (experts,
// heads).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "quant/format.h"

namespace matador {

// How precisely a linear layer treats its input.
enum class Precision : uint8_t {
  exact,  // float32 activations, whatever the weight's format
  fast,   // what the format's kernels like best: int8 blocks for quantised weights, bf16 for bf16
};

struct Weight {
  const Format* format = nullptr;
  int32_t count = 1;  // matrices, one after another
  int64_t rows = 0;   // of each: out_features, vocabulary size, or 1 for a vector
  int64_t cols = 0;   // in_features; a multiple of format->block_values
  // count * rows * format->bytes(cols) bytes, row after row, unless `packed` is set.
  const std::byte* data = nullptr;
  std::shared_ptr<const void> owner;   // keeps `data` alive: a mapped file or an allocation
  std::shared_ptr<const void> packed;  // the backend's own layout; only it knows the type
  const float* bias = nullptr;         // [count * rows], or null
  std::shared_ptr<const void> bias_owner;
  Precision precision = Precision::exact;

  explicit operator bool() const { return format != nullptr; }
  int64_t row_bytes() const { return format->bytes(cols); }
  int64_t matrix_bytes() const { return rows * row_bytes(); }
};

}  // namespace matador
