// PackedMatrix: a weight in strips of 16 rows (kernels/strip_layout.h), in its own format and size:
// nothing is dequantised. Missing rows of the last strip are zero. Each matrix of a stack begins a
// strip of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "backends/cpu/arena.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/thread_pool.h"
#include "quant/weight.h"

namespace matador::cpu {

struct PackedMatrix {
  StripKind kind = StripKind::f32;
  int64_t strips = 0;  // of each matrix
  int64_t strip_bytes = 0;
  AlignedBytes bytes;

  const std::byte* strip(int32_t matrix, int64_t index) const {
    return bytes.data() + (matrix * strips + index) * strip_bytes;
  }
};

// The kind that stores `format`, where there is one.
std::optional<StripKind> strip_kind_of(const Format& format);

// Told of each stretch of the weight's data that has been packed.
using Packed = std::function<void(const std::byte* begin, const std::byte* end)>;

// `kind` is that of the weight's format; its data need not be aligned.
PackedMatrix pack(StripKind kind, const Weight& weight, ThreadPool& threads, const Packed& packed);

}  // namespace matador::cpu
