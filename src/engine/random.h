// A counter-based generator: the number depends on its key and counter alone, never on what was
// drawn before or by whom. So a seeded request draws the same numbers in any batch, and after any
// preemption. Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
#pragma once

#include <array>
#include <cstdint>

namespace matador {

inline std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  std::array<uint32_t, 4> x = {
      static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
      static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)};
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

// Uniform in [0, 1), with 53 bits.
inline double uniform(uint64_t seed, uint32_t choice, uint64_t position) {
  auto x = philox(seed, position, choice);
  uint64_t bits = (uint64_t{x[0]} << 32 | x[1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace matador
