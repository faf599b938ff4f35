// Q8_1: Q8_0 with the sum of the decoded values, which products with unsigned levels need.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/rounding.h"

namespace matador::quant {

struct Q8_1 {
  static constexpr std::string_view name = "q8_1";
  static constexpr int values = 32;
  static constexpr int ggml_type = 9;
  struct Block {
    Half scale;
    Half sum;  // scale times the sum of the levels
    int8_t levels[values];
  };
  static_assert(sizeof(Block) == 36);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = to_float(block.scale);
    for (int i = 0; i < values; ++i) out[i] = scale * static_cast<float>(block.levels[i]);
  }

  MATADOR_DEVICE static void encode(const float* in, Block& block) {
    const float scale = std::abs(peak_of(in, values)) / 127;
    const float inverse = inverse_of(scale);
    int sum = 0;
    for (int i = 0; i < values; ++i) {
      block.levels[i] = static_cast<int8_t>(nearest_of(in[i] * inverse, -127, 127));
      sum += block.levels[i];
    }
    block.scale = to_half(scale);
    block.sum = to_half(scale * static_cast<float>(sum));
  }
};

}  // namespace matador::quant
