// NVFP4: 64 values of four-bit floating point (E2M1) in four sub-blocks of 16, each with a scale
// in unsigned E4M3.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/device.h"
#include "quant/e2m1.h"

namespace matador::quant {

struct NVFP4 {
  static constexpr std::string_view name = "nvfp4";
  static constexpr int values = 64;
  static constexpr int ggml_type = 40;
  struct Block {
    uint8_t scales[values / 16];
    uint8_t nibbles[values / 2];  // 8 bytes for a sub-block: value i low, value i + 8 high
  };
  static_assert(sizeof(Block) == 36);

  // Half the scale, as kTwiceE2m1 holds doubled values. The code of NaN counts as zero; the top
  // bit is ignored.
  MATADOR_DEVICE static float half_scale(uint8_t code) {
    if (code == 0x7F) return 0;
    const int exponent = (code >> 3) & 15;
    const auto mantissa = static_cast<float>(code & 7);
    if (exponent == 0) return mantissa * 0x1p-10F;
    float scale = 1 + mantissa / 8;
    for (int i = exponent; i < 8; ++i) scale *= 0.5F;
    for (int i = exponent; i > 8; --i) scale *= 2.0F;
    return scale;
  }

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    for (int sub = 0; sub < 4; ++sub) {
      const float scale = half_scale(block.scales[sub]);
      for (int i = 0; i < 8; ++i) {
        const uint8_t pair = block.nibbles[sub * 8 + i];
        out[sub * 16 + i] = scale * static_cast<float>(kTwiceE2m1[pair & 15]);
        out[sub * 16 + i + 8] = scale * static_cast<float>(kTwiceE2m1[pair >> 4]);
      }
    }
  }
};

}  // namespace matador::quant
