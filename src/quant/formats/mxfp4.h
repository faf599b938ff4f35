// MXFP4: 32 values of four-bit floating point (E2M1) times a power of two (E8M0). OCP
// Microscaling Formats (MX) Specification 1.0.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "core/device.h"
#include "quant/e2m1.h"

namespace matador::quant {

struct MXFP4 {
  static constexpr std::string_view name = "mxfp4";
  static constexpr int values = 32;
  static constexpr int ggml_type = 39;
  struct Block {
    uint8_t exponent;             // 2^(exponent - 127)
    uint8_t nibbles[values / 2];  // byte i: value i low, value i + 16 high
  };
  static_assert(sizeof(Block) == 17);

  // Half the scale, as kTwiceE2m1 holds doubled values; subnormal for exponents 0 and 1.
  MATADOR_DEVICE static float half_scale(uint8_t exponent) {
    const uint32_t bits = exponent < 2 ? 0x00200000U << exponent : (exponent - 1U) << 23;
    return std::bit_cast<float>(bits);
  }

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = half_scale(block.exponent);
    for (int i = 0; i < values / 2; ++i) {
      out[i] = scale * static_cast<float>(kTwiceE2m1[block.nibbles[i] & 15]);
      out[i + values / 2] = scale * static_cast<float>(kTwiceE2m1[block.nibbles[i] >> 4]);
    }
  }
};

}  // namespace matador::quant
