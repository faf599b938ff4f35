// Q1_0: 128 values of one bit each: plus or minus one scale.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"

namespace matador::quant {

struct Q1_0 {
  static constexpr std::string_view name = "q1_0";
  static constexpr int values = 128;
  static constexpr int ggml_type = 41;
  struct Block {
    Half scale;
    uint8_t bits[values / 8];  // bit i % 8 of byte i / 8: set where value i is positive
  };
  static_assert(sizeof(Block) == 18);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = to_float(block.scale);
    for (int i = 0; i < values; ++i) out[i] = (block.bits[i / 8] >> (i % 8)) & 1 ? scale : -scale;
  }
};

}  // namespace matador::quant
