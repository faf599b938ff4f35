// IQ2_XS: 256 values as 32 lattice points of eight values with seven signs each, and a four-bit
// scale for two points, in units of the block's half.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/grids/iq2_xs.h"
#include "quant/iq.h"

namespace matador::quant {

struct IQ2_XS {
  static constexpr std::string_view name = "iq2_xs";
  static constexpr int values = 256;
  static constexpr int ggml_type = 17;
  struct Block {
    Half scale_unit;
    uint16_t points[values / 8];  // nine bits of index, seven signs above
    uint8_t scales[values / 32];  // for four points: the first two low, the others high
  };
  static_assert(sizeof(Block) == 74);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float unit = to_float(block.scale_unit);
    for (int i = 0; i < values / 8; ++i) {
      const int level = (block.scales[i / 4] >> (i % 4 / 2 * 4)) & 15;
      const float scale = unit * (0.5F + static_cast<float>(level)) * 0.25F;
      const uint16_t code = block.points[i];
      decode_iq2_point(kIq2XsGrid[code & 511], eight_signs(code >> 9), scale, out + i * 8);
    }
  }
};

}  // namespace matador::quant
