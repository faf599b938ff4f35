// Q8_K: 256 values as signed bytes times one float, with the sums of each 16 levels. Made for
// activations; files do not hold it, but may.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/device.h"

namespace matador::quant {

struct Q8_K {
  static constexpr std::string_view name = "q8_k";
  static constexpr int values = 256;
  static constexpr int ggml_type = 15;
  struct Block {
    float scale;
    int8_t levels[values];
    int16_t sums[values / 16];
  };
  static_assert(sizeof(Block) == 292);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    for (int i = 0; i < values; ++i) out[i] = block.scale * static_cast<float>(block.levels[i]);
  }
};

}  // namespace matador::quant
