// IQ1_S: 256 values in eight sub-blocks of 32, each four lattice points of eight values (-1, 0 or
// 1) with a common shift and a three-bit scale, in units of the block's half.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/grids/iq1_s.h"
#include "quant/iq.h"

namespace matador::quant {

struct IQ1_S {
  static constexpr std::string_view name = "iq1_s";
  static constexpr int values = 256;
  static constexpr int ggml_type = 19;
  struct Block {
    Half scale_unit;
    uint8_t points[values / 8];   // the low eight bits of the index
    uint16_t extra[values / 32];  // bits 3 p: the high bits of point p; 12 to 14: scale; 15: shift
  };
  static_assert(sizeof(Block) == 50);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float unit = to_float(block.scale_unit);
    for (int i = 0; i < values / 8; ++i) {
      const int extra = block.extra[i / 4];
      const float scale = unit * static_cast<float>(2 * ((extra >> 12) & 7) + 1);
      const int high = (extra >> (i % 4 * 3)) & 7;
      const uint16_t point = kIq1SGrid[block.points[i] | (high << 8)];
      decode_iq1_point(point, (extra & 0x8000) != 0, scale, out + i * 8);
    }
  }
};

}  // namespace matador::quant
