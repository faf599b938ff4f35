// What the IQ formats share: points of a lattice (quant/grids/) that stand for the magnitudes of
// four or eight values, their signs kept apart. A point is 16 bits, the first level lowest.
#pragma once

#include <bit>
#include <cstdint>

#include "core/device.h"

namespace matador::quant {

MATADOR_DEVICE float with_sign(float value, int signs, int i) {
  return (signs >> i) & 1 ? -value : value;
}

// Seven signs are stored; the eighth makes the number of negative values even.
MATADOR_DEVICE int eight_signs(uint32_t seven) {
  return static_cast<int>(seven | ((std::popcount(seven) & 1U) << 7));
}

// Eight values of IQ2_XXS, IQ2_XS or IQ2_S.
MATADOR_DEVICE void decode_iq2_point(uint16_t point, int signs, float scale, float* out) {
  constexpr float kLevels[3] = {8, 25, 43};
  for (int i = 0; i < 8; ++i) {
    out[i] = with_sign(scale * kLevels[(point >> (2 * i)) & 3], signs, i);
  }
}

// Eight values of IQ1_S or IQ1_M: -1, 0 or 1, shifted by an eighth.
MATADOR_DEVICE void decode_iq1_point(uint16_t point, bool shift_down, float scale, float* out) {
  const float shift = shift_down ? -0.125F : 0.125F;
  for (int i = 0; i < 8; ++i) {
    out[i] = scale * (static_cast<float>(((point >> (2 * i)) & 3) - 1) + shift);
  }
}

// A 32-bit word of a block that is aligned to two bytes only, the low half first.
struct SplitWord {
  uint16_t halves[2];

  MATADOR_DEVICE uint32_t value() const {
    return halves[0] | (static_cast<uint32_t>(halves[1]) << 16);
  }
};

}  // namespace matador::quant
