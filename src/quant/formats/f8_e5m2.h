// F8_E5M2: the upper half of an IEEE binary16 (OCP 8-bit Floating Point Specification).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"

namespace matador::quant {

struct F8_E5M2 {
  static constexpr std::string_view name = "f8_e5m2";
  static constexpr int values = 1;
  static constexpr int ggml_type = -1;
  struct Block {
    uint8_t bits;
  };

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    *out = to_float(Half{static_cast<uint16_t>(block.bits << 8)});
  }
};

}  // namespace matador::quant
