// IQ4_XS: IQ4_NL's levels for 256 values, in eight sub-blocks of 32 with a signed six-bit scale
// each, in units of the block's half.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/nonlinear.h"

namespace matador::quant {

struct IQ4_XS {
  static constexpr std::string_view name = "iq4_xs";
  static constexpr int values = 256;
  static constexpr int ggml_type = 23;
  struct Block {
    Half scale_unit;
    uint16_t high_scales;         // two bits a sub-block
    uint8_t low_scales[4];        // four bits a sub-block, the even one low
    uint8_t nibbles[values / 2];  // 16 bytes a sub-block: value i low, value i + 16 high
  };
  static_assert(sizeof(Block) == 136);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float unit = to_float(block.scale_unit);
    for (int sub = 0; sub < 8; ++sub) {
      const int low = (block.low_scales[sub / 2] >> (sub % 2 * 4)) & 15;
      const int high = (block.high_scales >> (sub * 2)) & 3;
      const float scale = unit * static_cast<float>((low | (high << 4)) - 32);
      for (int i = 0; i < 16; ++i) {
        const uint8_t pair = block.nibbles[sub * 16 + i];
        out[sub * 32 + i] = scale * static_cast<float>(kNonlinearLevels[pair & 15]);
        out[sub * 32 + i + 16] = scale * static_cast<float>(kNonlinearLevels[pair >> 4]);
      }
    }
  }
};

}  // namespace matador::quant
