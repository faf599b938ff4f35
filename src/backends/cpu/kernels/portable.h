// Portable: 16 lanes in plain loops, which the compiler turns into what the target has.
//
// The same members exist in Avx2 and Avx512; kernels are templates over such a type. F holds 16
// floats, I 16 int32, B 64 bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/half.h"

namespace matador::cpu {

struct Portable {
  struct F {
    float v[16];
  };
  struct I {
    int32_t v[16];
  };
  struct B {
    uint8_t v[64];
  };
  // What a tile of the plain and the quantised product, and of attention, keeps in registers.
  static constexpr int kStrips = 1;
  static constexpr int kPlainTokens = 4;
  static constexpr int kQuantisedTokens = 3;
  static constexpr int kAttendRows = 2;
  static constexpr int kAttendVectors = 2;
  // Whether dot() wants signed weights with 128 added.
  static constexpr bool kOffsetSigned = false;

  template <class Op>
  MATADOR_DEVICE static F each(Op op) {
    F result;
    for (int i = 0; i < 16; ++i) result.v[i] = op(i);
    return result;
  }
  MATADOR_DEVICE static F set(float x) {
    return each([&](int) { return x; });
  }
  MATADOR_DEVICE static F load(const float* p) {
    return each([&](int i) { return p[i]; });
  }
  MATADOR_DEVICE static F load(const Half* p) {
    return each([&](int i) { return matador::to_float(p[i]); });
  }
  MATADOR_DEVICE static F load(const BFloat16* p) {
    return each([&](int i) { return matador::to_float(p[i]); });
  }
  // Two columns of 16 rows, a pair a row.
  MATADOR_DEVICE static void load_pairs(const BFloat16* p, F& first, F& second) {
    first = each([&](int i) { return matador::to_float(p[2 * i]); });
    second = each([&](int i) { return matador::to_float(p[2 * i + 1]); });
  }
  MATADOR_DEVICE static F load(const uint8_t* p) {
    return each([&](int i) { return static_cast<float>(p[i]); });
  }
  MATADOR_DEVICE static F load(const int8_t* p) {
    return each([&](int i) { return static_cast<float>(p[i]); });
  }
  // The first `count` lanes; the others are zero.
  MATADOR_DEVICE static F load(const float* p, int count) {
    return each([&](int i) { return i < count ? p[i] : 0.0F; });
  }
  MATADOR_DEVICE static void store(float* p, F x) { std::memcpy(p, x.v, sizeof(x)); }
  MATADOR_DEVICE static void store(float* p, F x, int count) {
    for (int i = 0; i < count; ++i) p[i] = x.v[i];
  }
  MATADOR_DEVICE static void store(Half* p, F x) {
    for (int i = 0; i < 16; ++i) p[i] = to_half(x.v[i]);
  }
  MATADOR_DEVICE static void store(BFloat16* p, F x) {
    for (int i = 0; i < 16; ++i) p[i] = to_bfloat16(x.v[i]);
  }

  MATADOR_DEVICE static F add(F a, F b) {
    return each([&](int i) { return a.v[i] + b.v[i]; });
  }
  MATADOR_DEVICE static F sub(F a, F b) {
    return each([&](int i) { return a.v[i] - b.v[i]; });
  }
  MATADOR_DEVICE static F mul(F a, F b) {
    return each([&](int i) { return a.v[i] * b.v[i]; });
  }
  MATADOR_DEVICE static F div(F a, F b) {
    return each([&](int i) { return a.v[i] / b.v[i]; });
  }
  // a * b + c
  MATADOR_DEVICE static F fma(F a, F b, F c) {
    return each([&](int i) { return a.v[i] * b.v[i] + c.v[i]; });
  }
  // Where a comparison with a NaN decides, these return b, as the machine's instructions do.
  MATADOR_DEVICE static F max(F a, F b) {
    return each([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
  }
  MATADOR_DEVICE static F min(F a, F b) {
    return each([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
  }
  MATADOR_DEVICE static F abs(F a) {
    return each([&](int i) { return std::fabs(a.v[i]); });
  }
  MATADOR_DEVICE static F copysign(F magnitude, F sign) {
    return each([&](int i) { return std::copysign(magnitude.v[i], sign.v[i]); });
  }
  // a where lane `first` <= i < `last`, else b.
  MATADOR_DEVICE static F select_range(int first, int last, F a, F b) {
    return each([&](int i) { return i >= first && i < last ? a.v[i] : b.v[i]; });
  }
  // a where x < bound, else b (also where x is not a number).
  MATADOR_DEVICE static F select_less(F x, F bound, F a, F b) {
    return each([&](int i) { return x.v[i] < bound.v[i] ? a.v[i] : b.v[i]; });
  }
  // x * 2^n for whole n in [-126, 127].
  MATADOR_DEVICE static F scale_by_power(F x, F n) {
    return each([&](int i) {
      return x.v[i] * std::bit_cast<float>((static_cast<int32_t>(n.v[i]) + 127) << 23);
    });
  }
  MATADOR_DEVICE static float sum(F x) {
    for (int step = 8; step > 0; step /= 2) {
      for (int i = 0; i < step; ++i) x.v[i] += x.v[i + step];
    }
    return x.v[0];
  }
  MATADOR_DEVICE static float highest(F x) {
    float result = x.v[0];
    for (int i = 1; i < 16; ++i) result = x.v[i] > result ? x.v[i] : result;
    return result;
  }

  // Nearest, ties to even; |x| < 2^22.
  MATADOR_DEVICE static I to_int(F x) {
    I result;
    for (int i = 0; i < 16; ++i) {
      constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23: the sum has no fraction bits left
      result.v[i] = static_cast<int32_t>(std::bit_cast<uint32_t>(x.v[i] + kMagic) -
                                         std::bit_cast<uint32_t>(kMagic));
    }
    return result;
  }
  MATADOR_DEVICE static F to_float(I x) {
    return each([&](int i) { return static_cast<float>(x.v[i]); });
  }
  MATADOR_DEVICE static F nearest(F x) { return to_float(to_int(x)); }
  MATADOR_DEVICE static int32_t sum(I x) {
    int32_t result = 0;
    for (int i = 0; i < 16; ++i) result += x.v[i];
    return result;
  }
  MATADOR_DEVICE static void store(int8_t* p, I x) {
    for (int i = 0; i < 16; ++i) p[i] = static_cast<int8_t>(x.v[i]);
  }
  MATADOR_DEVICE static I zero() { return {}; }
  // x * 2^kShift in every lane.
  template <int kShift>
  MATADOR_DEVICE static I set_shifted(const int32_t* x) {
    I result;
    for (int i = 0; i < 16; ++i) result.v[i] = *x * (1 << kShift);
    return result;
  }

  MATADOR_DEVICE static B load_bytes(const std::byte* p) {
    B result;
    std::memcpy(result.v, p, 64);
    return result;
  }
  MATADOR_DEVICE static B low_nibbles(B x) {
    for (int i = 0; i < 64; ++i) x.v[i] &= 15;
    return x;
  }
  MATADOR_DEVICE static B high_nibbles(B x) {
    for (int i = 0; i < 64; ++i) x.v[i] = static_cast<uint8_t>(x.v[i] >> 4);
    return x;
  }
  // Puts the bits kShift... of `high` that kMask has above the nibbles `low`.
  template <int kShift, int kMask>
  MATADOR_DEVICE static B with_high_bits(B low, B high) {
    for (int i = 0; i < 64; ++i) {
      low.v[i] = static_cast<uint8_t>(low.v[i] | (((high.v[i] >> kShift) & kMask) << 4));
    }
    return low;
  }
  MATADOR_DEVICE static B offset_signed(B x) {
    for (int i = 0; i < 64; ++i) x.v[i] ^= 0x80;
    return x;
  }
  // To each lane the four products of its bytes with x[0..3]. Weights are below 128.
  MATADOR_DEVICE static I dot(I sums, B weights, const int8_t* x) {
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 4; ++j) sums.v[i] += weights.v[4 * i + j] * x[j];
    }
    return sums;
  }
  // The same for signed weights.
  MATADOR_DEVICE static I dot_signed(I sums, B weights, const int8_t* x) {
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 4; ++j) {
        sums.v[i] += static_cast<int8_t>(weights.v[4 * i + j]) * x[j];
      }
    }
    return sums;
  }
};

}  // namespace matador::cpu
