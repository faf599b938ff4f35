// Q4_K: 256 values in eight sub-blocks of 32. A value is scale * level - minimum, where each
// sub-block has a 6-bit scale and minimum in units of the block's two halves.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/k_scales.h"
#include "quant/rounding.h"

namespace matador::quant {

struct Q4_K {
  static constexpr std::string_view name = "q4_k";
  static constexpr int values = 256;
  static constexpr int ggml_type = 12;
  struct Block {
    Half scale_unit;
    Half minimum_unit;
    KScales scales;
    uint8_t nibbles[values / 2];  // 32 bytes for two sub-blocks: the even one low, the odd one high
  };
  static_assert(sizeof(Block) == 144);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale_unit = to_float(block.scale_unit);
    const float minimum_unit = to_float(block.minimum_unit);
    for (int sub = 0; sub < 8; ++sub) {
      const float scale = scale_unit * static_cast<float>(block.scales.scale(sub));
      const float minimum = minimum_unit * static_cast<float>(block.scales.minimum(sub));
      const uint8_t* nibbles = block.nibbles + sub / 2 * 32;
      const int shift = sub % 2 * 4;
      for (int i = 0; i < 32; ++i) {
        out[sub * 32 + i] = scale * static_cast<float>((nibbles[i] >> shift) & 15) - minimum;
      }
    }
  }

  static void encode(const float* in, Block& block) {
    encode_k_scales(in, 16, block.scale_unit, block.minimum_unit, block.scales);
    for (int i = 0; i < values / 2; ++i) block.nibbles[i] = 0;
    for (int sub = 0; sub < 8; ++sub) {
      const float scale = to_float(block.scale_unit) * block.scales.scale(sub);
      const float minimum = to_float(block.minimum_unit) * block.scales.minimum(sub);
      const float inverse = inverse_of(scale);
      uint8_t* nibbles = block.nibbles + sub / 2 * 32;
      for (int i = 0; i < 32; ++i) {
        const int level = level_of((in[sub * 32 + i] + minimum) * inverse + 0.5F, 15);
        set_bits(nibbles[i], level, sub % 2 * 4);
      }
    }
  }
};

}  // namespace matador::quant
