// IQ4_NL: 32 values, each one of sixteen levels that lie closer together near zero, times a scale.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"
#include "quant/nonlinear.h"

namespace matador::quant {

struct IQ4_NL {
  static constexpr std::string_view name = "iq4_nl";
  static constexpr int values = 32;
  static constexpr int ggml_type = 20;
  struct Block {
    Half scale;
    uint8_t nibbles[values / 2];  // byte i: value i low, value i + 16 high
  };
  static_assert(sizeof(Block) == 18);

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = to_float(block.scale);
    for (int i = 0; i < values / 2; ++i) {
      out[i] = scale * static_cast<float>(kNonlinearLevels[block.nibbles[i] & 15]);
      out[i + values / 2] = scale * static_cast<float>(kNonlinearLevels[block.nibbles[i] >> 4]);
    }
  }
};

}  // namespace matador::quant
