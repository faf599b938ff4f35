// Half (IEEE 754 binary16) and BFloat16 as stored, and their exact conversions. Narrowing rounds
// to nearest, ties to even, in the default rounding mode; NaNs stay NaNs and become quiet.
#pragma once

#include <bit>
#include <cstdint>

#include "core/device.h"

namespace matador {

struct Half {
  uint16_t bits;
};

struct BFloat16 {
  uint16_t bits;
};

MATADOR_DEVICE constexpr float to_float(Half half) {
  const uint32_t sign = (half.bits & 0x8000U) << 16;
  const uint32_t magnitude = half.bits & 0x7FFFU;
  uint32_t bits = (magnitude << 13) + (112U << 23);  // rebias the exponent: 127 - 15
  if (magnitude < 0x0400) {                          // subnormal: magnitude * 2^-24
    bits = std::bit_cast<uint32_t>(std::bit_cast<float>(0x3F000000U | magnitude) - 0.5F);
  } else if (magnitude >= 0x7C00) {  // infinity or NaN
    bits = 0x7F800000U | (magnitude << 13);
  }
  return std::bit_cast<float>(sign | bits);
}

MATADOR_DEVICE constexpr Half to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  uint32_t half = 0;
  if (magnitude > 0x7F800000U) {
    half = 0x7E00U | ((magnitude >> 13) & 0x3FFU);
  } else if (magnitude >= 0x47800000U) {  // 2^16 and above
    half = 0x7C00U;
  } else if (magnitude < 0x38800000U) {  // below 2^-14: adding 1/2 rounds to a multiple of 2^-24
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000U;
  } else {
    half = (magnitude - (112U << 23) + 0x0FFFU + ((magnitude >> 13) & 1U)) >> 13;
  }
  return {static_cast<uint16_t>(((bits >> 16) & 0x8000U) | half)};
}

MATADOR_DEVICE constexpr float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

MATADOR_DEVICE constexpr BFloat16 to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return {static_cast<uint16_t>((bits >> 16) | 0x40U)};
  return {static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16)};
}

}  // namespace matador
