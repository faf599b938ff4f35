// Q3_K: 256 values as signed three-bit levels, in sixteen sub-blocks of 16 with a signed six-bit
// scale each, in units of the block's half.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"

namespace matador::quant {

struct Q3_K {
  static constexpr std::string_view name = "q3_k";
  static constexpr int values = 256;
  static constexpr int ggml_type = 11;
  struct Block {
    uint8_t high[values / 8];  // bit r of byte i: the third bit of value 32 r + i
    uint8_t low[values / 4];   // 32 bytes for 128 values: value 32 r + i in bits 2 r of byte i
    uint8_t scales[12];  // scale s: its low nibble in byte s % 8, its top bits in byte 8 + s % 4
    Half scale_unit;
  };
  static_assert(sizeof(Block) == 110);

  MATADOR_DEVICE static int scale_of(const Block& block, int sub) {
    const int low = (block.scales[sub % 8] >> (sub / 8 * 4)) & 15;
    const int high = (block.scales[8 + sub % 4] >> (sub / 4 * 2)) & 3;
    return (low | (high << 4)) - 32;
  }

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float unit = to_float(block.scale_unit);
    for (int sub = 0; sub < 16; ++sub) {
      const float scale = unit * static_cast<float>(scale_of(block, sub));
      const uint8_t* low = block.low + sub / 8 * 32 + sub % 2 * 16;
      const uint8_t* high = block.high + sub % 2 * 16;
      for (int i = 0; i < 16; ++i) {
        const int two_bits = (low[i] >> (sub % 8 / 2 * 2)) & 3;
        const int third = (high[i] >> (sub / 2)) & 1;
        out[sub * 16 + i] = scale * static_cast<float>((two_bits | (third << 2)) - 4);
      }
    }
  }
};

}  // namespace matador::quant
