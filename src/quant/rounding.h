// What encoders share: finding the extremes of a block, rounding to a level, packing.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/device.h"

namespace matador::quant {

// The value furthest from zero, with its sign; the first of equals.
MATADOR_DEVICE float peak_of(const float* values, int count) {
  float peak = 0;
  for (int i = 0; i < count; ++i) {
    if (std::abs(values[i]) > std::abs(peak)) peak = values[i];
  }
  return peak;
}

struct Range {
  float low;
  float high;
};
MATADOR_DEVICE Range range_of(const float* values, int count) {
  Range range{values[0], values[0]};
  for (int i = 1; i < count; ++i) {
    if (values[i] < range.low) range.low = values[i];
    if (values[i] > range.high) range.high = values[i];
  }
  return range;
}

MATADOR_DEVICE float inverse_of(float scale) { return scale == 0 ? 0 : 1 / scale; }

// The integer part of x in [0, highest]; 0 for NaN.
MATADOR_DEVICE uint8_t level_of(float x, int highest) {
  if (!(x > 0)) return 0;
  return static_cast<uint8_t>(x >= static_cast<float>(highest) ? highest : static_cast<int>(x));
}

// The nearest integer in [lowest, highest], halves away from zero; lowest for NaN.
MATADOR_DEVICE int nearest_of(float x, int lowest, int highest) {
  if (!(x > static_cast<float>(lowest))) return lowest;
  return x >= static_cast<float>(highest) ? highest : static_cast<int>(std::round(x));
}

// Adds `value`, shifted, to a byte that has zeros there.
MATADOR_DEVICE void set_bits(uint8_t& byte, int value, int shift) {
  byte = static_cast<uint8_t>(byte | (value << shift));
}

}  // namespace matador::quant
