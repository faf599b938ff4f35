// Avx512: the members of Portable with AVX-512 F, BW, DQ and VL.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "core/half.h"

namespace matador::cpu {

struct Avx512 {
  using F = __m512;
  using I = __m512i;
  using B = __m512i;
  static constexpr int kStrips = 2;
  static constexpr int kPlainTokens = 12;
  static constexpr int kQuantisedTokens = 6;
  static constexpr int kAttendRows = 6;
  static constexpr int kAttendVectors = 4;
  static constexpr bool kOffsetSigned = false;

  MATADOR_DEVICE static __mmask16 first(int count) {
    return static_cast<__mmask16>((1U << count) - 1);
  }
  MATADOR_DEVICE static F set(float x) { return _mm512_set1_ps(x); }
  MATADOR_DEVICE static F load(const float* p) { return _mm512_loadu_ps(p); }
  MATADOR_DEVICE static F load(const Half* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  MATADOR_DEVICE static F load(const BFloat16* p) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  MATADOR_DEVICE static void load_pairs(const BFloat16* p, F& first, F& second) {
    const __m512i pairs = _mm512_loadu_si512(p);
    first = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
    second = _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(-65536)));
  }
  MATADOR_DEVICE static F load(const uint8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
  }
  MATADOR_DEVICE static F load(const int8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
  }
  MATADOR_DEVICE static F load(const float* p, int count) {
    return _mm512_maskz_loadu_ps(first(count), p);
  }
  MATADOR_DEVICE static void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  MATADOR_DEVICE static void store(float* p, F x, int count) {
    _mm512_mask_storeu_ps(p, first(count), x);
  }
  MATADOR_DEVICE static void store(Half* p, F x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  MATADOR_DEVICE static void store(BFloat16* p, F x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i bias = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF));
    const __m512i rounded = _mm512_add_epi32(bits, bias);
    const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i result = _mm512_mask_mov_epi32(rounded, nan, quiet);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtepi32_epi16(_mm512_srli_epi32(result, 16)));
  }

  MATADOR_DEVICE static F add(F a, F b) { return _mm512_add_ps(a, b); }
  MATADOR_DEVICE static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  MATADOR_DEVICE static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  MATADOR_DEVICE static F div(F a, F b) { return _mm512_div_ps(a, b); }
  MATADOR_DEVICE static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  MATADOR_DEVICE static F max(F a, F b) { return _mm512_max_ps(a, b); }
  MATADOR_DEVICE static F min(F a, F b) { return _mm512_min_ps(a, b); }
  MATADOR_DEVICE static F abs(F a) { return _mm512_abs_ps(a); }
  MATADOR_DEVICE static F copysign(F magnitude, F sign) {
    return _mm512_or_ps(_mm512_abs_ps(magnitude), _mm512_and_ps(sign, _mm512_set1_ps(-0.0F)));
  }
  MATADOR_DEVICE static F select_range(int begin, int end, F a, F b) {
    return _mm512_mask_mov_ps(b, static_cast<__mmask16>(first(end) & ~first(begin)), a);
  }
  MATADOR_DEVICE static F select_less(F x, F bound, F a, F b) {
    return _mm512_mask_mov_ps(b, _mm512_cmp_ps_mask(x, bound, _CMP_LT_OQ), a);
  }
  MATADOR_DEVICE static F scale_by_power(F x, F n) { return _mm512_scalef_ps(x, n); }
  MATADOR_DEVICE static float sum(F x) { return _mm512_reduce_add_ps(x); }
  MATADOR_DEVICE static float highest(F x) { return _mm512_reduce_max_ps(x); }

  MATADOR_DEVICE static I to_int(F x) { return _mm512_cvtps_epi32(x); }
  MATADOR_DEVICE static F to_float(I x) { return _mm512_cvtepi32_ps(x); }
  MATADOR_DEVICE static F nearest(F x) {
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  MATADOR_DEVICE static int32_t sum(I x) { return _mm512_reduce_add_epi32(x); }
  MATADOR_DEVICE static void store(int8_t* p, I x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(x));
  }
  MATADOR_DEVICE static I zero() { return _mm512_setzero_si512(); }
  template <int kShift>
  MATADOR_DEVICE static I set_shifted(const int32_t* x) {
    return _mm512_slli_epi32(_mm512_set1_epi32(*x), kShift);
  }

  MATADOR_DEVICE static B load_bytes(const std::byte* p) { return _mm512_loadu_si512(p); }
  MATADOR_DEVICE static B low_nibbles(B x) { return _mm512_and_si512(x, _mm512_set1_epi8(15)); }
  MATADOR_DEVICE static B high_nibbles(B x) {
    return _mm512_and_si512(_mm512_srli_epi16(x, 4), _mm512_set1_epi8(15));
  }
  template <int kShift, int kMask>
  MATADOR_DEVICE static B with_high_bits(B low, B high) {
    // Bits that a shift moves in from a neighbouring byte lie outside the mask.
    const B shifted = kShift < 4 ? _mm512_slli_epi16(high, kShift < 4 ? 4 - kShift : 0)
                                 : _mm512_srli_epi16(high, kShift < 4 ? 0 : kShift - 4);
    return _mm512_or_si512(low, _mm512_and_si512(shifted, _mm512_set1_epi8(kMask << 4)));
  }
  MATADOR_DEVICE static B offset_signed(B x) { return _mm512_xor_si512(x, _mm512_set1_epi8(-128)); }
  MATADOR_DEVICE static B broadcast(const int8_t* x) {
    int32_t four;
    __builtin_memcpy(&four, x, 4);
    return _mm512_set1_epi32(four);
  }
  MATADOR_DEVICE static I dot(I sums, B weights, const int8_t* x) {
    const __m512i pairs = _mm512_maddubs_epi16(weights, broadcast(x));
    return _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
  MATADOR_DEVICE static I dot_signed(I sums, B weights, const int8_t* x) {
    // |w| * (x with the sign of w); x is never -128.
    const B four = broadcast(x);
    const B with_sign =
        _mm512_mask_sub_epi8(four, _mm512_movepi8_mask(weights), _mm512_setzero_si512(), four);
    const __m512i pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(weights), with_sign);
    return _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
};

}  // namespace matador::cpu
