// Q2_0: 64 values as two-bit levels (-1, 0, 1 or 2) times one scale.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"

namespace matador::quant {

struct Q2_0 {
  static constexpr std::string_view name = "q2_0";
  static constexpr int values = 64;
  static constexpr int ggml_type = 42;
  struct Block {
    Half scale;
    uint8_t levels[values / 4];  // value i in bits 2 (i % 4) of byte i / 4; level + 1
  };
  static_assert(sizeof(Block) == 18);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = to_float(block.scale);
    for (int i = 0; i < values; ++i) {
      const int level = (block.levels[i / 4] >> (i % 4 * 2)) & 3;
      out[i] = scale * static_cast<float>(level - 1);
    }
  }
};

}  // namespace matador::quant
