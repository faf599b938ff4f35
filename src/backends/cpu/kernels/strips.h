// Strips: a strip of 16 rows times some rows of activations.
//
// One accumulator lane belongs to one (weight row, activation row). It takes the columns in order,
// whatever number of activation rows a tile holds, so a result does not depend on the batch.
#pragma once

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/strip_layout.h"
#include "core/half.h"

namespace matador::cpu {

// Calls tile.template operator()<N>(first) over [begin, end), N tokens at a time: kMost, then the
// halves of what is left.
template <int kMost, class Tile>
MATADOR_DEVICE void for_tiles(int64_t begin, int64_t end, Tile tile) {
  for (; end - begin >= kMost; begin += kMost) tile.template operator()<kMost>(begin);
  if constexpr (kMost > 1) for_tiles<(kMost > 8 ? 8 : kMost / 2)>(begin, end, tile);
}

template <class V>
MATADOR_DEVICE void store_strip(const StripJob& job, int64_t token, typename V::F sum) {
  float* out = job.out + token * job.out_stride;
  if (job.bias != nullptr) sum = V::add(sum, V::load(job.bias, job.rows));
  if (job.rows == kStripRows) {
    V::store(out, sum);
  } else {
    V::store(out, sum, job.rows);
  }
}

// Plain numbers of type T.
template <class V, class T>
struct PlainStrip {
  using F = typename V::F;

  template <int kTokens>
  MATADOR_DEVICE static void tile(const StripJob& job, int64_t token) {
    const T* weights = reinterpret_cast<const T*>(job.strip);
    const float* x = job.x + token * job.x_stride;
    F sums[kTokens];
#pragma GCC unroll 16
    for (F& sum : sums) sum = V::set(0);
    for (int64_t col = 0; col < job.cols; ++col) {
      const F w = V::load(weights + col * kStripRows);
#pragma GCC unroll 16
      for (int t = 0; t < kTokens; ++t) {
        sums[t] = V::fma(w, V::set(x[t * job.x_stride + col]), sums[t]);
      }
    }
#pragma GCC unroll 16
    for (int t = 0; t < kTokens; ++t) store_strip<V>(job, token + t, sums[t]);
  }

  static void multiply(const StripJob& job) {
    for_tiles<V::kPlainTokens>(job.begin, job.end,
                               [&]<int kTokens>(int64_t token) { tile<kTokens>(job, token); });
  }
};

// How a quantised kind reads its layout.
struct StripCode {
  StripLayout layout;
  int bits = 4;        // of a level: 4, 5, 6 or 8
  int zero_log2 = -1;  // levels stand for level - 2^zero_log2, if not negative
  bool is_signed = false;
  int scales = 1;  // a sub-block
};

template <class V, StripCode kCode>
struct QuantisedStrip {
  using F = typename V::F;
  using I = typename V::I;
  using B = typename V::B;
  static constexpr StripLayout kLayout = kCode.layout;
  static constexpr bool kOffset = kCode.is_signed && V::kOffsetSigned;
  static constexpr int kZeroLog2 = kOffset ? 7 : kCode.zero_log2;
  static constexpr bool kHasMinimum = kLayout.minimum >= 0;

  struct Block {
    B levels[8];
    F scales[kCode.scales];
    F minimum;
  };

  MATADOR_DEVICE static void load_levels(const std::byte* block, B (&levels)[8]) {
    const std::byte* p = block + kLayout.levels;
    if constexpr (kCode.bits == 8) {
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) {
        levels[k] = V::load_bytes(p + 64 * k);
        if constexpr (kOffset) levels[k] = V::offset_signed(levels[k]);
      }
      return;
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const B pair = V::load_bytes(p + 64 * k);
      levels[k] = V::low_nibbles(pair);
      levels[k + 4] = V::high_nibbles(pair);
    }
    if constexpr (kCode.bits == 5) {
      add_bits<1, 1>(V::load_bytes(block + kLayout.high), levels);
    } else if constexpr (kCode.bits == 6) {
      add_bits<2, 3>(V::load_bytes(block + kLayout.high), levels);
      add_bits<2, 3>(V::load_bytes(block + kLayout.high + 64), levels + 4);
    }
  }

  // To levels[k] the bits kStep * k... of `high`.
  template <int kStep, int kMask, int k = 0>
  MATADOR_DEVICE static void add_bits(B high, B* levels) {
    if constexpr (kStep * k < 8) {
      levels[k] = V::template with_high_bits<kStep * k, kMask>(levels[k], high);
      add_bits<kStep, kMask, k + 1>(high, levels);
    }
  }

  MATADOR_DEVICE static void load_scales(const std::byte* super, const std::byte* block,
                                         Block& out) {
    if constexpr (kLayout.scale_unit < 0) {
      out.scales[0] = V::load(reinterpret_cast<const Half*>(block + kLayout.scale));
      if constexpr (kHasMinimum) {
        out.minimum = V::load(reinterpret_cast<const Half*>(block + kLayout.minimum));
      }
    } else {
      const F unit = V::load(reinterpret_cast<const Half*>(super + kLayout.scale_unit));
      using Byte = std::conditional_t<kCode.scales == 1, uint8_t, int8_t>;
      const Byte* scales = reinterpret_cast<const Byte*>(block + kLayout.scale);
#pragma GCC unroll 2
      for (int i = 0; i < kCode.scales; ++i) {
        out.scales[i] = V::mul(unit, V::load(scales + 16 * i));
      }
      if constexpr (kHasMinimum) {
        const F minimum_unit = V::load(reinterpret_cast<const Half*>(super + kLayout.minimum_unit));
        const F minimum = V::load(reinterpret_cast<const uint8_t*>(block + kLayout.minimum));
        out.minimum = V::sub(V::set(0), V::mul(minimum_unit, minimum));
      }
    }
  }

  // The products of vectors [kFirst, kLast) with x, exact. `negated` is minus the sum of x there.
  template <int kFirst, int kLast>
  MATADOR_DEVICE static I dot(const B (&levels)[8], const int8_t* x, const int32_t* negated) {
    I sum = V::zero();
    if constexpr (kZeroLog2 >= 0) sum = V::template set_shifted<kZeroLog2>(negated);
#pragma GCC unroll 8
    for (int k = kFirst; k < kLast; ++k) {
      if constexpr (kCode.is_signed && !kOffset) {
        sum = V::dot_signed(sum, levels[k], x + 4 * k);
      } else {
        sum = V::dot(sum, levels[k], x + 4 * k);
      }
    }
    return sum;
  }

  template <int kTokens>
  MATADOR_DEVICE static void add_block(const Block& block, const QuantisedRows& x, int64_t token,
                                       int64_t column_block, F (&sums)[kTokens]) {
    const int64_t blocks = x.cols / kActivationBlock;
#pragma GCC unroll 16
    for (int t = 0; t < kTokens; ++t) {
      const int64_t at = (token + t) * blocks + column_block;
      const int8_t* levels = x.levels + at * kActivationBlock;
      const F scale = V::set(x.scales[at]);
      if constexpr (kCode.scales == 1) {
        const I product = dot<0, 8>(block.levels, levels, x.negated + at);
        sums[t] = V::fma(V::to_float(product), V::mul(block.scales[0], scale), sums[t]);
      } else {
        const I low = dot<0, 4>(block.levels, levels, x.negated_halves + 2 * at);
        const I high = dot<4, 8>(block.levels, levels, x.negated_halves + 2 * at + 1);
        sums[t] = V::fma(V::to_float(low), V::mul(block.scales[0], scale), sums[t]);
        sums[t] = V::fma(V::to_float(high), V::mul(block.scales[1], scale), sums[t]);
      }
      if constexpr (kHasMinimum) {
        sums[t] = V::fma(block.minimum, V::set(x.sums[at]), sums[t]);
      }
    }
  }

  template <int kTokens>
  MATADOR_DEVICE static void tile(const StripJob& job, int64_t token) {
    F sums[kTokens];
#pragma GCC unroll 16
    for (F& sum : sums) sum = V::set(0);
    const std::byte* super = job.strip;
    for (int64_t b = 0; b < job.cols / 32; super += kLayout.bytes()) {
      for (int sub = 0; sub < kLayout.blocks(); ++sub, ++b) {
        const std::byte* bytes = super + kLayout.header + sub * kLayout.block;
        Block block;
        load_levels(bytes, block.levels);
        load_scales(super, bytes, block);
        add_block<kTokens>(block, *job.levels, token, b, sums);
      }
    }
#pragma GCC unroll 16
    for (int t = 0; t < kTokens; ++t) store_strip<V>(job, token + t, sums[t]);
  }

  static void multiply(const StripJob& job) {
    for_tiles<V::kQuantisedTokens>(job.begin, job.end,
                                   [&]<int kTokens>(int64_t token) { tile<kTokens>(job, token); });
  }
};

// In the order of StripKind.
template <class V>
constexpr auto strip_kernels() {
  return std::array<void (*)(const StripJob&), static_cast<size_t>(StripKind::count)>{
      PlainStrip<V, float>::multiply,
      PlainStrip<V, Half>::multiply,
      PlainStrip<V, BFloat16>::multiply,
      QuantisedStrip<V, StripCode{.layout = kLayoutQ4_0, .zero_log2 = 3}>::multiply,
      QuantisedStrip<V, StripCode{.layout = kLayoutQ4_1}>::multiply,
      QuantisedStrip<V, StripCode{.layout = kLayoutQ5_0, .bits = 5, .zero_log2 = 4}>::multiply,
      QuantisedStrip<V, StripCode{.layout = kLayoutQ5_1, .bits = 5}>::multiply,
      QuantisedStrip<V, StripCode{.layout = kLayoutQ8_0, .bits = 8, .is_signed = true}>::multiply,
      QuantisedStrip<V, StripCode{.layout = kLayoutQ4_K}>::multiply,
      QuantisedStrip<V, StripCode{.layout = kLayoutQ5_K, .bits = 5}>::multiply,
      QuantisedStrip<
          V, StripCode{.layout = kLayoutQ6_K, .bits = 6, .zero_log2 = 5, .scales = 2}>::multiply,
  };
}

}  // namespace matador::cpu
