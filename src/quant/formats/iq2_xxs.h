// IQ2_XXS: 256 values in eight sub-blocks of 32, each four lattice points of eight values with
// seven signs a point and a four-bit scale, in units of the block's half.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/grids/iq2_xxs.h"
#include "quant/iq.h"

namespace matador::quant {

struct IQ2_XXS {
  static constexpr std::string_view name = "iq2_xxs";
  static constexpr int values = 256;
  static constexpr int ggml_type = 16;
  struct Block {
    Half scale_unit;
    struct SubBlock {
      uint8_t points[4];
      SplitWord signs_and_scale;  // bits 7 p: the signs of point p; bits 28 to 31: the scale
    } sub_blocks[8];
  };
  static_assert(sizeof(Block) == 66);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float unit = to_float(block.scale_unit);
    for (int sub = 0; sub < 8; ++sub) {
      const Block::SubBlock& stored = block.sub_blocks[sub];
      const uint32_t word = stored.signs_and_scale.value();
      const float scale = unit * (0.5F + static_cast<float>(word >> 28)) * 0.25F;
      for (int i = 0; i < 4; ++i) {
        const int signs = eight_signs((word >> (7 * i)) & 127);
        decode_iq2_point(kIq2XxsGrid[stored.points[i]], signs, scale, out + sub * 32 + i * 8);
      }
    }
  }
};

}  // namespace matador::quant
