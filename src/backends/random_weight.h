// Random weights, the same on every device: each value depends on its seed and place alone.
#pragma once

#include <cstdint>

#include "core/device.h"

namespace matador {

// Uniform in [-0.035, 0.035): a standard deviation of 0.02, as models are initialised with. The
// bits are mixed as in splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", 2014).
MATADOR_DEVICE float random_weight(uint64_t seed, uint64_t index) {
  uint64_t x = (seed << 40) + index + uint64_t{0x9E3779B97F4A7C15};
  x = (x ^ (x >> 30)) * uint64_t{0xBF58476D1CE4E5B9};
  x = (x ^ (x >> 27)) * uint64_t{0x94D049BB133111EB};
  x ^= x >> 31;
  return (static_cast<float>(x >> 40) * 0x1p-23F - 1) * 0.035F;
}

}  // namespace matador
