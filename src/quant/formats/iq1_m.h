// IQ1_M: 256 values as 32 lattice points of IQ1_S's grid with a shift each, and a three-bit scale
// for two points. The block's half is spread over the top nibbles of the scale words.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/grids/iq1_s.h"
#include "quant/iq.h"

namespace matador::quant {

struct IQ1_M {
  static constexpr std::string_view name = "iq1_m";
  static constexpr int values = 256;
  static constexpr int ggml_type = 29;
  struct Block {
    uint8_t points[values / 8];  // the low eight bits of the index
    uint8_t high[values / 16];   // four bits a point: three of index, then the shift
    uint16_t scales[4];          // bits 3 s: scale s of four; 12 to 15: a nibble of the unit
  };
  static_assert(sizeof(Block) == 56);

  MATADOR_DEVICE static Half unit_of(const Block& block) {
    int bits = 0;
    for (int i = 0; i < 4; ++i) bits |= block.scales[i] >> 12 << (4 * i);
    return {static_cast<uint16_t>(bits)};
  }

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float unit = to_float(unit_of(block));
    for (int i = 0; i < values / 8; ++i) {
      const int level = (block.scales[i / 8] >> (i % 8 / 2 * 3)) & 7;
      const float scale = unit * static_cast<float>(2 * level + 1);
      const int high = (block.high[i / 2] >> (i % 2 * 4)) & 15;
      const uint16_t point = kIq1SGrid[block.points[i] | ((high & 7) << 8)];
      decode_iq1_point(point, (high & 8) != 0, scale, out + i * 8);
    }
  }
};

}  // namespace matador::quant
