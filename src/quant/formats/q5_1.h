// Q5_1: 32 values as unsigned 5-bit levels times a scale, plus the block's minimum.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/rounding.h"

namespace matador::quant {

struct Q5_1 {
  static constexpr std::string_view name = "q5_1";
  static constexpr int values = 32;
  static constexpr int ggml_type = 7;
  struct Block {
    Half scale;
    Half minimum;
    uint8_t high[4];              // bit i: the fifth bit of value i
    uint8_t nibbles[values / 2];  // byte i: value i low, value i + 16 high
  };
  static_assert(sizeof(Block) == 24);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = to_float(block.scale);
    const float minimum = to_float(block.minimum);
    for (int i = 0; i < values; ++i) {
      const int nibble = (block.nibbles[i % 16] >> (i / 16 * 4)) & 15;
      const int fifth = (block.high[i / 8] >> (i % 8)) & 1;
      out[i] = scale * static_cast<float>(nibble | (fifth << 4)) + minimum;
    }
  }

  MATADOR_DEVICE static void encode(const float* in, Block& block) {
    const auto [low, high] = range_of(in, values);
    const float scale = (high - low) / 31;
    const float inverse = inverse_of(scale);
    block = {.scale = to_half(scale), .minimum = to_half(low), .high = {}, .nibbles = {}};
    for (int i = 0; i < values; ++i) {
      const int level = level_of((in[i] - low) * inverse + 0.5F, 31);
      set_bits(block.nibbles[i % 16], level & 15, i / 16 * 4);
      set_bits(block.high[i / 8], level >> 4, i % 8);
    }
  }
};

}  // namespace matador::quant
