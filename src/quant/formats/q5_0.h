// Q5_0: 32 values as signed 5-bit levels times one scale.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/rounding.h"

namespace matador::quant {

struct Q5_0 {
  static constexpr std::string_view name = "q5_0";
  static constexpr int values = 32;
  static constexpr int ggml_type = 6;
  struct Block {
    Half scale;
    uint8_t high[4];              // bit i: the fifth bit of value i
    uint8_t nibbles[values / 2];  // byte i: value i low, value i + 16 high; level + 16
  };
  static_assert(sizeof(Block) == 22);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = to_float(block.scale);
    for (int i = 0; i < values; ++i) {
      const int nibble = (block.nibbles[i % 16] >> (i / 16 * 4)) & 15;
      const int fifth = (block.high[i / 8] >> (i % 8)) & 1;
      out[i] = scale * static_cast<float>((nibble | (fifth << 4)) - 16);
    }
  }

  // The peak becomes level -16, so that all 32 levels are in reach.
  MATADOR_DEVICE static void encode(const float* in, Block& block) {
    const float scale = peak_of(in, values) / -16;
    const float inverse = inverse_of(scale);
    block = {.scale = to_half(scale), .high = {}, .nibbles = {}};
    for (int i = 0; i < values; ++i) {
      const int level = level_of(in[i] * inverse + 16.5F, 31);
      set_bits(block.nibbles[i % 16], level & 15, i / 16 * 4);
      set_bits(block.high[i / 8], level >> 4, i % 8);
    }
  }
};

}  // namespace matador::quant
