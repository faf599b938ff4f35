// Q4_1: 32 values as unsigned 4-bit levels times a scale, plus the block's minimum.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/rounding.h"

namespace matador::quant {

struct Q4_1 {
  static constexpr std::string_view name = "q4_1";
  static constexpr int values = 32;
  static constexpr int ggml_type = 3;
  struct Block {
    Half scale;
    Half minimum;
    uint8_t nibbles[values / 2];  // byte i: value i low, value i + 16 high
  };
  static_assert(sizeof(Block) == 20);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = to_float(block.scale);
    const float minimum = to_float(block.minimum);
    for (int i = 0; i < values / 2; ++i) {
      out[i] = scale * static_cast<float>(block.nibbles[i] & 15) + minimum;
      out[i + values / 2] = scale * static_cast<float>(block.nibbles[i] >> 4) + minimum;
    }
  }

  MATADOR_DEVICE static void encode(const float* in, Block& block) {
    const auto [low, high] = range_of(in, values);
    const float scale = (high - low) / 15;
    const float inverse = inverse_of(scale);
    block.scale = to_half(scale);
    block.minimum = to_half(low);
    for (int i = 0; i < values / 2; ++i) {
      const int first = level_of((in[i] - low) * inverse + 0.5F, 15);
      const int second = level_of((in[i + values / 2] - low) * inverse + 0.5F, 15);
      block.nibbles[i] = static_cast<uint8_t>(first | (second << 4));
    }
  }
};

}  // namespace matador::quant
