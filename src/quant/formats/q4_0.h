// Q4_0: 32 values as signed 4-bit levels times one scale.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/rounding.h"

namespace matador::quant {

struct Q4_0 {
  static constexpr std::string_view name = "q4_0";
  static constexpr int values = 32;
  static constexpr int ggml_type = 2;
  struct Block {
    Half scale;
    uint8_t nibbles[values / 2];  // byte i: value i low, value i + 16 high; level + 8
  };
  static_assert(sizeof(Block) == 18);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = to_float(block.scale);
    for (int i = 0; i < values / 2; ++i) {
      out[i] = scale * static_cast<float>((block.nibbles[i] & 15) - 8);
      out[i + values / 2] = scale * static_cast<float>((block.nibbles[i] >> 4) - 8);
    }
  }

  // The peak becomes level -8, so that all 16 levels are in reach.
  MATADOR_DEVICE static void encode(const float* in, Block& block) {
    const float scale = peak_of(in, values) / -8;
    const float inverse = inverse_of(scale);
    block.scale = to_half(scale);
    for (int i = 0; i < values / 2; ++i) {
      const int low = level_of(in[i] * inverse + 8.5F, 15);
      const int high = level_of(in[i + values / 2] * inverse + 8.5F, 15);
      block.nibbles[i] = static_cast<uint8_t>(low | (high << 4));
    }
  }
};

}  // namespace matador::quant
