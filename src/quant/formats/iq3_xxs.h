// IQ3_XXS: 256 values in eight sub-blocks of 32, each eight lattice points of four values with
// seven signs for two points and a four-bit scale, in units of the block's half.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/grids/iq3_xxs.h"
#include "quant/iq.h"

namespace matador::quant {

struct IQ3_XXS {
  static constexpr std::string_view name = "iq3_xxs";
  static constexpr int values = 256;
  static constexpr int ggml_type = 18;
  struct Block {
    Half scale_unit;
    uint8_t points[values / 4];
    SplitWord signs_and_scale[8];  // bits 7 p: the signs of two points; bits 28 to 31: the scale
  };
  static_assert(sizeof(Block) == 98);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    constexpr float kLevels[8] = {4, 12, 20, 28, 36, 44, 52, 62};
    const float unit = to_float(block.scale_unit);
    for (int i = 0; i < values / 4; ++i) {
      const uint32_t word = block.signs_and_scale[i / 8].value();
      const float scale = unit * (0.5F + static_cast<float>(word >> 28)) * 0.5F;
      const int signs = eight_signs((word >> (i % 8 / 2 * 7)) & 127) >> (i % 2 * 4);
      const uint16_t point = kIq3XxsGrid[block.points[i]];
      for (int j = 0; j < 4; ++j) {
        out[i * 4 + j] = with_sign(scale * kLevels[(point >> (4 * j)) & 7], signs, j);
      }
    }
  }
};

}  // namespace matador::quant
