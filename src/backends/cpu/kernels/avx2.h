// Avx2: the members of Portable with AVX2, FMA and F16C, a pair of registers for 16 lanes.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "core/half.h"

namespace matador::cpu {

struct Avx2 {
  struct F {
    __m256 a, b;
  };
  struct I {
    __m256i a, b;
  };
  struct B {
    __m256i a, b;
  };
  static constexpr int kStrips = 1;
  static constexpr int kPlainTokens = 5;
  static constexpr int kQuantisedTokens = 3;
  static constexpr int kAttendRows = 3;
  static constexpr int kAttendVectors = 2;
  static constexpr bool kOffsetSigned = false;

  MATADOR_DEVICE static __m256i lanes() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
  MATADOR_DEVICE static __m256i first(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes());
  }
  MATADOR_DEVICE static __m128i load_16_bytes(const void* p) {
    return _mm_loadu_si128(static_cast<const __m128i*>(p));
  }

  MATADOR_DEVICE static F set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  MATADOR_DEVICE static F load(const float* p) {
    return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
  }
  MATADOR_DEVICE static F load(const Half* p) {
    return {_mm256_cvtph_ps(load_16_bytes(p)), _mm256_cvtph_ps(load_16_bytes(p + 8))};
  }
  MATADOR_DEVICE static __m256 widen(__m128i bfloats) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bfloats), 16));
  }
  MATADOR_DEVICE static F load(const BFloat16* p) {
    return {widen(load_16_bytes(p)), widen(load_16_bytes(p + 8))};
  }
  MATADOR_DEVICE static void load_pairs(const BFloat16* p, F& first, F& second) {
    const B pairs = load_bytes(reinterpret_cast<const std::byte*>(p));
    const __m256i upper = _mm256_set1_epi32(-65536);
    first = {_mm256_castsi256_ps(_mm256_slli_epi32(pairs.a, 16)),
             _mm256_castsi256_ps(_mm256_slli_epi32(pairs.b, 16))};
    second = {_mm256_castsi256_ps(_mm256_and_si256(pairs.a, upper)),
              _mm256_castsi256_ps(_mm256_and_si256(pairs.b, upper))};
  }
  MATADOR_DEVICE static F load(const uint8_t* p) {
    const __m128i bytes = load_16_bytes(p);
    return to_float({_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))});
  }
  MATADOR_DEVICE static F load(const int8_t* p) {
    const __m128i bytes = load_16_bytes(p);
    return to_float({_mm256_cvtepi8_epi32(bytes), _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8))});
  }
  MATADOR_DEVICE static F load(const float* p, int count) {
    return {_mm256_maskload_ps(p, first(count)), _mm256_maskload_ps(p + 8, first(count - 8))};
  }
  MATADOR_DEVICE static void store(float* p, F x) {
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
  }
  MATADOR_DEVICE static void store(float* p, F x, int count) {
    _mm256_maskstore_ps(p, first(count), x.a);
    _mm256_maskstore_ps(p + 8, first(count - 8), x.b);
  }
  MATADOR_DEVICE static void store(Half* p, F x) {
    constexpr int kRounding = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x.a, kRounding));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8), _mm256_cvtps_ph(x.b, kRounding));
  }
  MATADOR_DEVICE static __m256i narrow(__m256 x) {  // to bfloat16 in the low halves
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  }
  MATADOR_DEVICE static void store(BFloat16* p, F x) {
    const __m256i packed = _mm256_packus_epi32(narrow(x.a), narrow(x.b));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(packed, 0xD8));
  }

  MATADOR_DEVICE static F add(F x, F y) {
    return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)};
  }
  MATADOR_DEVICE static F sub(F x, F y) {
    return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)};
  }
  MATADOR_DEVICE static F mul(F x, F y) {
    return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)};
  }
  MATADOR_DEVICE static F div(F x, F y) {
    return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)};
  }
  MATADOR_DEVICE static F fma(F x, F y, F z) {
    return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
  }
  MATADOR_DEVICE static F max(F x, F y) {
    return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)};
  }
  MATADOR_DEVICE static F min(F x, F y) {
    return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)};
  }
  MATADOR_DEVICE static F abs(F x) {
    const __m256 sign = _mm256_set1_ps(-0.0F);
    return {_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
  }
  MATADOR_DEVICE static F copysign(F magnitude, F sign) {
    const __m256 mask = _mm256_set1_ps(-0.0F);
    const F m = abs(magnitude);
    return {_mm256_or_ps(m.a, _mm256_and_ps(mask, sign.a)),
            _mm256_or_ps(m.b, _mm256_and_ps(mask, sign.b))};
  }
  MATADOR_DEVICE static __m256 range(int begin, int end) {
    return _mm256_castsi256_ps(_mm256_andnot_si256(first(begin), first(end)));
  }
  MATADOR_DEVICE static F select_range(int begin, int end, F x, F y) {
    return {_mm256_blendv_ps(y.a, x.a, range(begin, end)),
            _mm256_blendv_ps(y.b, x.b, range(begin - 8, end - 8))};
  }
  MATADOR_DEVICE static F select_less(F x, F bound, F y, F z) {
    return {_mm256_blendv_ps(z.a, y.a, _mm256_cmp_ps(x.a, bound.a, _CMP_LT_OQ)),
            _mm256_blendv_ps(z.b, y.b, _mm256_cmp_ps(x.b, bound.b, _CMP_LT_OQ))};
  }
  MATADOR_DEVICE static __m256 power(__m256 n) {  // 2^n
    const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
  }
  MATADOR_DEVICE static F scale_by_power(F x, F n) { return mul(x, {power(n.a), power(n.b)}); }
  MATADOR_DEVICE static float sum(F x) {
    const __m256 eight = _mm256_add_ps(x.a, x.b);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  MATADOR_DEVICE static float highest(F x) {
    const __m256 eight = _mm256_max_ps(x.a, x.b);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }

  MATADOR_DEVICE static I to_int(F x) { return {_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)}; }
  MATADOR_DEVICE static F to_float(I x) {
    return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)};
  }
  MATADOR_DEVICE static F nearest(F x) {
    constexpr int kRounding = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    return {_mm256_round_ps(x.a, kRounding), _mm256_round_ps(x.b, kRounding)};
  }
  MATADOR_DEVICE static int32_t sum(I x) {
    const __m256i eight = _mm256_add_epi32(x.a, x.b);
    const __m128i four =
        _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
  }
  MATADOR_DEVICE static void store(int8_t* p, I x) {
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(x.a, x.b), 0xD8);
    const __m256i bytes = _mm256_packs_epi16(words, words);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm256_castsi256_si128(_mm256_permute4x64_epi64(bytes, 0xD8)));
  }
  MATADOR_DEVICE static I zero() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  template <int kShift>
  MATADOR_DEVICE static I set_shifted(const int32_t* x) {
    const __m256i shifted = _mm256_slli_epi32(_mm256_set1_epi32(*x), kShift);
    return {shifted, shifted};
  }

  MATADOR_DEVICE static B load_bytes(const std::byte* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))};
  }
  MATADOR_DEVICE static B low_nibbles(B x) {
    const __m256i mask = _mm256_set1_epi8(15);
    return {_mm256_and_si256(x.a, mask), _mm256_and_si256(x.b, mask)};
  }
  MATADOR_DEVICE static B high_nibbles(B x) {
    return low_nibbles({_mm256_srli_epi16(x.a, 4), _mm256_srli_epi16(x.b, 4)});
  }
  template <int kShift>
  MATADOR_DEVICE static __m256i to_bit_4(__m256i x) {
    return kShift < 4 ? _mm256_slli_epi16(x, kShift < 4 ? 4 - kShift : 0)
                      : _mm256_srli_epi16(x, kShift < 4 ? 0 : kShift - 4);
  }
  template <int kShift, int kMask>
  MATADOR_DEVICE static B with_high_bits(B low, B high) {
    // Bits that a shift moves in from a neighbouring byte lie outside the mask.
    const __m256i mask = _mm256_set1_epi8(kMask << 4);
    return {_mm256_or_si256(low.a, _mm256_and_si256(to_bit_4<kShift>(high.a), mask)),
            _mm256_or_si256(low.b, _mm256_and_si256(to_bit_4<kShift>(high.b), mask))};
  }
  MATADOR_DEVICE static B offset_signed(B x) {
    const __m256i sign = _mm256_set1_epi8(-128);
    return {_mm256_xor_si256(x.a, sign), _mm256_xor_si256(x.b, sign)};
  }
  MATADOR_DEVICE static __m256i broadcast(const int8_t* x) {
    int32_t four;
    __builtin_memcpy(&four, x, 4);
    return _mm256_set1_epi32(four);
  }
  MATADOR_DEVICE static __m256i dot(__m256i sums, __m256i weights, __m256i x) {
    const __m256i pairs = _mm256_maddubs_epi16(weights, x);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  MATADOR_DEVICE static I dot(I sums, B weights, const int8_t* x) {
    const __m256i four = broadcast(x);
    return {dot(sums.a, weights.a, four), dot(sums.b, weights.b, four)};
  }
  MATADOR_DEVICE static I dot_signed(I sums, B weights, const int8_t* x) {
    // |w| * (x with the sign of w); x is never -128.
    const __m256i four = broadcast(x);
    return {dot(sums.a, _mm256_abs_epi8(weights.a), _mm256_sign_epi8(four, weights.a)),
            dot(sums.b, _mm256_abs_epi8(weights.b), _mm256_sign_epi8(four, weights.b))};
  }
};

}  // namespace matador::cpu
