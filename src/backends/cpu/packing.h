// PackedMatrix: a weight in strips of 16 rows (kernels/strip_layout.h), in its own format and size:
// nothing is dequantised. Missing rows of the last strip are zero.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/cpu/arena.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/thread_pool.h"
#include "quant/format.h"

namespace matador::cpu {

struct PackedMatrix {
  StripKind kind = StripKind::f32;
  int64_t rows = 0, cols = 0;
  int64_t strip_bytes = 0;
  AlignedBytes bytes;

  int64_t strips() const { return (rows + kStripRows - 1) / kStripRows; }
  const std::byte* strip(int64_t index) const { return bytes.data() + index * strip_bytes; }
};

// The kind that stores `format`, where there is one.
std::optional<StripKind> strip_kind_of(const Format& format);

// `data` holds the rows one after the other and need not be aligned.
PackedMatrix pack(StripKind kind, const std::byte* data, int64_t rows, int64_t cols,
                  ThreadPool& threads);

}  // namespace matador::cpu
