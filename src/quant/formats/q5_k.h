// Q5_K: Q4_K with a fifth bit for each level.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/k_scales.h"
#include "quant/rounding.h"

namespace matador::quant {

struct Q5_K {
  static constexpr std::string_view name = "q5_k";
  static constexpr int values = 256;
  static constexpr int ggml_type = 13;
  struct Block {
    Half scale_unit;
    Half minimum_unit;
    KScales scales;
    uint8_t high[values / 8];     // bit s of byte i: the fifth bit of value i of sub-block s
    uint8_t nibbles[values / 2];  // 32 bytes for two sub-blocks: the even one low, the odd one high
  };
  static_assert(sizeof(Block) == 176);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale_unit = to_float(block.scale_unit);
    const float minimum_unit = to_float(block.minimum_unit);
    for (int sub = 0; sub < 8; ++sub) {
      const float scale = scale_unit * static_cast<float>(block.scales.scale(sub));
      const float minimum = minimum_unit * static_cast<float>(block.scales.minimum(sub));
      const uint8_t* nibbles = block.nibbles + sub / 2 * 32;
      for (int i = 0; i < 32; ++i) {
        const int nibble = (nibbles[i] >> (sub % 2 * 4)) & 15;
        const int fifth = (block.high[i] >> sub) & 1;
        out[sub * 32 + i] = scale * static_cast<float>(nibble | (fifth << 4)) - minimum;
      }
    }
  }

  static void encode(const float* in, Block& block) {
    block = {};
    encode_k_scales(in, 32, block.scale_unit, block.minimum_unit, block.scales);
    for (int sub = 0; sub < 8; ++sub) {
      const float scale = to_float(block.scale_unit) * block.scales.scale(sub);
      const float minimum = to_float(block.minimum_unit) * block.scales.minimum(sub);
      const float inverse = inverse_of(scale);
      for (int i = 0; i < 32; ++i) {
        const int level = level_of((in[sub * 32 + i] + minimum) * inverse + 0.5F, 31);
        set_bits(block.nibbles[sub / 2 * 32 + i], level & 15, sub % 2 * 4);
        set_bits(block.high[i], level >> 4, sub);
      }
    }
  }
};

}  // namespace matador::quant
