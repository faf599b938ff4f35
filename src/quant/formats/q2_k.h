// Q2_K: 256 values in sixteen sub-blocks of 16. A value is scale * level - minimum with two-bit
// levels; each sub-block has a four-bit scale and minimum in units of the block's two halves.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"

namespace matador::quant {

struct Q2_K {
  static constexpr std::string_view name = "q2_k";
  static constexpr int values = 256;
  static constexpr int ggml_type = 10;
  struct Block {
    uint8_t scales[values / 16];  // the scale low, the minimum high
    uint8_t levels[values / 4];   // 32 bytes for 128 values: value 32 r + i in bits 2 r of byte i
    Half scale_unit;
    Half minimum_unit;
  };
  static_assert(sizeof(Block) == 84);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale_unit = to_float(block.scale_unit);
    const float minimum_unit = to_float(block.minimum_unit);
    for (int sub = 0; sub < 16; ++sub) {
      const float scale = scale_unit * static_cast<float>(block.scales[sub] & 15);
      const float minimum = minimum_unit * static_cast<float>(block.scales[sub] >> 4);
      const uint8_t* levels = block.levels + sub / 8 * 32 + sub % 2 * 16;
      const int shift = sub % 8 / 2 * 2;
      for (int i = 0; i < 16; ++i) {
        out[sub * 16 + i] = scale * static_cast<float>((levels[i] >> shift) & 3) - minimum;
      }
    }
  }
};

}  // namespace matador::quant
