// IQ3_S: 256 values as 64 lattice points of four values with four signs each, and a four-bit
// scale for eight points, in units of the block's half.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/grids/iq3_s.h"
#include "quant/iq.h"

namespace matador::quant {

struct IQ3_S {
  static constexpr std::string_view name = "iq3_s";
  static constexpr int values = 256;
  static constexpr int ggml_type = 21;
  struct Block {
    Half scale_unit;
    uint8_t points[values / 4];   // the low eight bits of the index
    uint8_t high[values / 32];    // bit i % 8 of byte i / 8: the ninth bit of point i
    uint8_t signs[values / 8];    // for two points, the first low
    uint8_t scales[values / 64];  // for sixteen points: the first eight low, the others high
  };
  static_assert(sizeof(Block) == 110);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float unit = to_float(block.scale_unit);
    for (int i = 0; i < values / 4; ++i) {
      const int level = (block.scales[i / 16] >> (i % 16 / 8 * 4)) & 15;
      const float scale = unit * static_cast<float>(1 + 2 * level);
      const int ninth = (block.high[i / 8] >> (i % 8)) & 1;
      const uint16_t point = kIq3SGrid[block.points[i] | (ninth << 8)];
      const int signs = block.signs[i / 2] >> (i % 2 * 4);
      for (int j = 0; j < 4; ++j) {
        const int magnitude = ((point >> (4 * j)) & 7) * 2 + 1;
        out[i * 4 + j] = with_sign(scale * static_cast<float>(magnitude), signs, j);
      }
    }
  }
};

}  // namespace matador::quant
