#include "core/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace matador {
namespace {

float next_up(float x) { return std::nextafter(x, std::numeric_limits<float>::infinity()); }
float next_down(float x) { return std::nextafter(x, -std::numeric_limits<float>::infinity()); }
Half half(int bits) { return {static_cast<uint16_t>(bits)}; }

// From the definition of binary16.
float value_of(int bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const float value = exponent == 0
                          ? std::ldexp(static_cast<float>(mantissa), -24)
                          : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return bits & 0x8000 ? -value : value;
}

TEST(Half, WidensEveryFiniteValueExactly) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7C00) == 0x7C00) continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(to_float(half(bits))),
              std::bit_cast<uint32_t>(value_of(bits)))
        << bits;
  }
}

TEST(Half, KeepsInfinitiesAndNans) {
  EXPECT_EQ(to_float(half(0x7C00)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(to_float(half(0xFC00)), -std::numeric_limits<float>::infinity());
  for (int bits = 0x7C01; bits < 0x8000; ++bits) {
    ASSERT_TRUE(std::isnan(to_float(half(bits)))) << bits;
    ASSERT_TRUE(std::isnan(to_float(to_half(to_float(half(bits)))))) << bits;
  }
}

TEST(Half, NarrowsEveryValueOfItsOwnToItself) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7C00) == 0x7C00 && (bits & 0x3FF) != 0) continue;
    ASSERT_EQ(to_half(to_float(half(bits))).bits, bits);
  }
}

TEST(Half, RoundsToTheNearestAndTiesToEven) {
  for (int bits = 0; bits < 0x7BFF; ++bits) {
    const float middle = (value_of(bits) + value_of(bits + 1)) / 2;
    ASSERT_EQ(to_half(middle).bits, bits + (bits & 1)) << bits;
    ASSERT_EQ(to_half(next_down(middle)).bits, bits);
    ASSERT_EQ(to_half(next_up(middle)).bits, bits + 1);
    ASSERT_EQ(to_half(-middle).bits, 0x8000 | (bits + (bits & 1)));
  }
}

TEST(Half, OverflowsToInfinityFromHalfAStepAboveTheLargest) {
  EXPECT_EQ(to_half(next_down(65520.0F)).bits, 0x7BFF);
  EXPECT_EQ(to_half(65520.0F).bits, 0x7C00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::max()).bits, 0x7C00);
  EXPECT_EQ(to_half(-std::numeric_limits<float>::infinity()).bits, 0xFC00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::denorm_min()).bits, 0);
}

TEST(BFloat16, NarrowsEveryValueOfItsOwnToItself) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const BFloat16 value{static_cast<uint16_t>(bits)};
    if (std::isnan(to_float(value))) {
      ASSERT_TRUE(std::isnan(to_float(to_bfloat16(to_float(value)))));
    } else {
      ASSERT_EQ(to_bfloat16(to_float(value)).bits, bits);
    }
  }
}

TEST(BFloat16, RoundsToTheNearestAndTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7F7F; ++bits) {
    const auto middle = std::bit_cast<float>((bits << 16) | 0x8000U);
    ASSERT_EQ(to_bfloat16(middle).bits, bits + (bits & 1));
    ASSERT_EQ(to_bfloat16(next_down(middle)).bits, bits);
    ASSERT_EQ(to_bfloat16(next_up(middle)).bits, bits + 1);
  }
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7F80);
}

}  // namespace
}  // namespace matador
