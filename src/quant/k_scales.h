// KScales: eight 6-bit scales and eight 6-bit minimums in 12 bytes, as Q4_K and Q5_K store them.
//
//   bytes 0-3   scale 0-3 in the low six bits, the top two bits of scale 4-7 above them
//   bytes 4-7   the same for the minimums
//   bytes 8-11  the low four bits of scale 4-7, and of minimum 4-7 above them
#pragma once

#include <cstdint>

#include "core/half.h"
#include "quant/rounding.h"

namespace matador::quant {

struct KScales {
  uint8_t bytes[12];

  MATADOR_DEVICE uint8_t scale(int i) const {
    if (i < 4) return bytes[i] & 63;
    return static_cast<uint8_t>((bytes[i + 4] & 15) | ((bytes[i - 4] >> 6) << 4));
  }
  MATADOR_DEVICE uint8_t minimum(int i) const {
    if (i < 4) return bytes[i + 4] & 63;
    return static_cast<uint8_t>((bytes[i + 4] >> 4) | ((bytes[i] >> 6) << 4));
  }
  // All of them at once; each below 64.
  MATADOR_DEVICE void set(const uint8_t* scales, const uint8_t* minimums) {
    for (int i = 0; i < 4; ++i) {
      bytes[i] = static_cast<uint8_t>(scales[i] | ((scales[i + 4] >> 4) << 6));
      bytes[i + 4] = static_cast<uint8_t>(minimums[i] | ((minimums[i + 4] >> 4) << 6));
      bytes[i + 8] = static_cast<uint8_t>((scales[i + 4] & 15) | ((minimums[i + 4] & 15) << 4));
    }
  }
};

// Chooses the scales of 256 values for `levels` levels a value: each sub-block of 32 spans its
// range, widened to contain zero.
inline void encode_k_scales(const float* in, int levels, Half& scale_unit, Half& minimum_unit,
                            KScales& scales) {
  float steps[8];
  float minimums[8];
  for (int sub = 0; sub < 8; ++sub) {
    const auto [low, high] = range_of(in + sub * 32, 32);
    minimums[sub] = low < 0 ? -low : 0;
    steps[sub] = (minimums[sub] + (high > 0 ? high : 0)) / static_cast<float>(levels - 1);
  }
  scale_unit = to_half(range_of(steps, 8).high / 63);
  minimum_unit = to_half(range_of(minimums, 8).high / 63);
  uint8_t scale_levels[8];
  uint8_t minimum_levels[8];
  for (int sub = 0; sub < 8; ++sub) {
    scale_levels[sub] = level_of(steps[sub] * inverse_of(to_float(scale_unit)) + 0.5F, 63);
    minimum_levels[sub] = level_of(minimums[sub] * inverse_of(to_float(minimum_unit)) + 0.5F, 63);
  }
  scales.set(scale_levels, minimum_levels);
}

}  // namespace matador::quant
