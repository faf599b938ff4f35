// IQ2_S: 256 values as 32 lattice points of eight values with eight signs each, and a four-bit
// scale for two points, in units of the block's half.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/grids/iq2_s.h"
#include "quant/iq.h"

namespace matador::quant {

struct IQ2_S {
  static constexpr std::string_view name = "iq2_s";
  static constexpr int values = 256;
  static constexpr int ggml_type = 22;
  struct Block {
    Half scale_unit;
    uint8_t points[values / 8];  // the low eight bits of the index
    uint8_t signs[values / 8];
    uint8_t high[values / 32];    // two bits a point: the index's ninth and tenth
    uint8_t scales[values / 32];  // for four points: the first two low, the others high
  };
  static_assert(sizeof(Block) == 82);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float unit = to_float(block.scale_unit);
    for (int i = 0; i < values / 8; ++i) {
      const int level = (block.scales[i / 4] >> (i % 4 / 2 * 4)) & 15;
      const float scale = unit * (0.5F + static_cast<float>(level)) * 0.25F;
      const int high = (block.high[i / 4] >> (i % 4 * 2)) & 3;
      const uint16_t point = kIq2SGrid[block.points[i] | (high << 8)];
      decode_iq2_point(point, block.signs[i], scale, out + i * 8);
    }
  }
};

}  // namespace matador::quant
