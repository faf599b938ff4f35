// Q6_K: 256 values as signed 6-bit levels, in sixteen sub-blocks of 16 with a signed byte of
// scale each, in units of the block's half.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/rounding.h"

namespace matador::quant {

struct Q6_K {
  static constexpr std::string_view name = "q6_k";
  static constexpr int values = 256;
  static constexpr int ggml_type = 14;
  // Each half of 128 values has 64 bytes of `low` and 32 of `high`. Its value 32 r + i has its low
  // nibble in low[32 (r % 2) + i], the upper nibble for r > 1, and its top two bits in bits 2 r
  // and 2 r + 1 of high[i].
  struct Block {
    uint8_t low[values / 2];
    uint8_t high[values / 4];
    int8_t scales[values / 16];
    Half scale_unit;
  };
  static_assert(sizeof(Block) == 210);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float unit = to_float(block.scale_unit);
    for (int run = 0; run < 8; ++run) {  // 32 values
      const uint8_t* low = block.low + run / 4 * 64 + run % 2 * 32;
      const uint8_t* high = block.high + run / 4 * 32;
      const int low_shift = run % 4 / 2 * 4;
      const int high_shift = run % 4 * 2;
      for (int i = 0; i < 32; ++i) {
        const int level = ((low[i] >> low_shift) & 15) | (((high[i] >> high_shift) & 3) << 4);
        const float scale = unit * static_cast<float>(block.scales[run * 2 + i / 16]);
        out[run * 32 + i] = scale * static_cast<float>(level - 32);
      }
    }
  }

  static void encode(const float* in, Block& block) {
    block = {};
    float steps[16];
    for (int sub = 0; sub < 16; ++sub) steps[sub] = peak_of(in + sub * 16, 16) / -32;
    block.scale_unit = to_half(peak_of(steps, 16) / -128);
    const float unit = to_float(block.scale_unit);
    for (int sub = 0; sub < 16; ++sub) {
      block.scales[sub] = static_cast<int8_t>(nearest_of(steps[sub] * inverse_of(unit), -128, 127));
    }
    for (int i = 0; i < values; ++i) {
      const float inverse = inverse_of(unit * static_cast<float>(block.scales[i / 16]));
      const int level = nearest_of(in[i] * inverse, -32, 31) + 32;
      const int run = i / 32;
      set_bits(block.low[run / 4 * 64 + run % 2 * 32 + i % 32], level & 15, run % 4 / 2 * 4);
      set_bits(block.high[run / 4 * 32 + i % 32], level >> 4, run % 4 * 2);
    }
  }
};

}  // namespace matador::quant
