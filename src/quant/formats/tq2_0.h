// TQ2_0: 256 ternary values (-1, 0, 1) times one scale, two bits each.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"

namespace matador::quant {

struct TQ2_0 {
  static constexpr std::string_view name = "tq2_0";
  static constexpr int values = 256;
  static constexpr int ggml_type = 35;
  struct Block {
    uint8_t levels[values / 4];  // 32 bytes for 128 values: value 32 r + i in bits 2 r of byte i
    Half scale;
  };
  static_assert(sizeof(Block) == 66);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = to_float(block.scale);
    for (int run = 0; run < 8; ++run) {
      for (int i = 0; i < 32; ++i) {
        const int level = (block.levels[run / 4 * 32 + i] >> (run % 4 * 2)) & 3;
        out[run * 32 + i] = scale * static_cast<float>(level - 1);
      }
    }
  }
};

}  // namespace matador::quant
