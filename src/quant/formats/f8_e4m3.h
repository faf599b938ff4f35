// F8_E4M3: eight-bit floating point with four bits of exponent, finite only (E4M3FN of the OCP
// 8-bit Floating Point Specification).
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "core/device.h"

namespace matador::quant {

struct F8_E4M3 {
  static constexpr std::string_view name = "f8_e4m3";
  static constexpr int values = 1;
  static constexpr int ggml_type = -1;
  struct Block {
    uint8_t bits;
  };

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const uint32_t sign = (block.bits & 0x80U) << 24;
    const uint32_t magnitude = block.bits & 0x7FU;
    uint32_t bits = (magnitude << 20) + (120U << 23);  // rebias the exponent: 127 - 7
    if (magnitude < 8) bits = std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-9F);
    if (magnitude == 0x7F) bits = 0x7FC00000U;
    *out = std::bit_cast<float>(sign | bits);
  }
};

}  // namespace matador::quant
