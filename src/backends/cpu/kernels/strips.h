// Strips: a strip of 16 rows times some rows of activations.
//
// One accumulator lane belongs to one (weight row, activation row). It takes the columns in order,
// whatever number of activation rows a tile holds, so a result does not depend on the batch.
#pragma once

#include <utility>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/strip_layout.h"
#include "core/half.h"

namespace matador::cpu {

// Calls tile.template operator()<kStrips, kTokens>(strip, token) for all of a job: V's most strips
// at a time, and for those its most tokens, then what is left in smaller tiles.
template <int kMost, class Tile>
MATADOR_DEVICE void for_tokens(int64_t begin, int64_t end, Tile tile) {
  for (; end - begin >= kMost; begin += kMost) tile.template operator()<kMost>(begin);
  if constexpr (kMost > 1) for_tokens<(kMost > 4 ? 4 : kMost / 2)>(begin, end, tile);
}
template <int kMostStrips, int kMostTokens, class Tile>
MATADOR_DEVICE void for_tiles(const StripJob& job, Tile tile) {
  const int64_t strips = (job.rows + kStripRows - 1) / kStripRows;
  int64_t strip = 0;
  for (; strip + kMostStrips <= strips; strip += kMostStrips) {
    for_tokens<kMostTokens>(job.begin, job.end, [&]<int kTokens>(int64_t token) {
      tile.template operator()<kMostStrips, kTokens>(strip, token);
    });
  }
  for (; strip < strips; ++strip) {
    for_tokens<kMostTokens>(job.begin, job.end, [&]<int kTokens>(int64_t token) {
      tile.template operator()<1, kTokens>(strip, token);
    });
  }
}

template <class V>
MATADOR_DEVICE void store_strip(const StripJob& job, int64_t strip, int64_t token,
                                typename V::F sum) {
  const int64_t row = strip * kStripRows;
  float* out = job.out + token * job.out_stride + row;
  if (job.rows - row >= kStripRows) {
    if (job.bias != nullptr) sum = V::add(sum, V::load(job.bias + row));
    V::store(out, sum);
  } else {
    const int rows = static_cast<int>(job.rows - row);
    if (job.bias != nullptr) sum = V::add(sum, V::load(job.bias + row, rows));
    V::store(out, sum, rows);
  }
}

// The sums of a tile.
template <class V, int kStrips, int kTokens>
struct TileSums {
  using F = typename V::F;
  F sums[kStrips][kTokens];

  MATADOR_DEVICE TileSums() {
#pragma GCC unroll 2
    for (auto& strip : sums) {
#pragma GCC unroll 16
      for (F& sum : strip) sum = V::set(0);
    }
  }
  MATADOR_DEVICE void store(const StripJob& job, int64_t strip, int64_t token) const {
#pragma GCC unroll 2
    for (int s = 0; s < kStrips; ++s) {
#pragma GCC unroll 16
      for (int t = 0; t < kTokens; ++t) store_strip<V>(job, strip + s, token + t, sums[s][t]);
    }
  }
};

// Adds w[s] * x[t * stride] to a tile.
template <class V, int kStrips, int kTokens>
MATADOR_DEVICE void add_column(const typename V::F (&w)[kStrips], const float* x, int64_t stride,
                               TileSums<V, kStrips, kTokens>& tile) {
#pragma GCC unroll 16
  for (int t = 0; t < kTokens; ++t) {
    const typename V::F value = V::set(x[t * stride]);
#pragma GCC unroll 2
    for (int s = 0; s < kStrips; ++s) tile.sums[s][t] = V::fma(w[s], value, tile.sums[s][t]);
  }
}

// Plain numbers of type T, columns one by one.
template <class V, class T>
struct PlainStrip {
  template <int kStrips, int kTokens>
  static void tile(const StripJob& job, int64_t strip, int64_t token) {
    const std::byte* strips = job.strips + strip * job.strip_bytes;
    const float* x = job.x + token * job.x_stride;
    TileSums<V, kStrips, kTokens> tile;
    for (int64_t col = 0; col < job.cols; ++col) {
      typename V::F w[kStrips];
#pragma GCC unroll 2
      for (int s = 0; s < kStrips; ++s) {
        w[s] = V::load(reinterpret_cast<const T*>(strips + s * job.strip_bytes) + col * kStripRows);
      }
      add_column(w, x + col, job.x_stride, tile);
    }
    tile.store(job, strip, token);
  }
};

// bf16 in pairs of columns.
template <class V>
struct PairStrip {
  template <int kStrips, int kTokens>
  static void tile(const StripJob& job, int64_t strip, int64_t token) {
    const std::byte* strips = job.strips + strip * job.strip_bytes;
    const float* x = job.x + token * job.x_stride;
    TileSums<V, kStrips, kTokens> tile;
    for (int64_t col = 0; col < job.cols; col += 2) {
      typename V::F first[kStrips];
      typename V::F second[kStrips];
#pragma GCC unroll 2
      for (int s = 0; s < kStrips; ++s) {
        const auto* w = reinterpret_cast<const BFloat16*>(strips + s * job.strip_bytes);
        V::load_pairs(w + col * kStripRows, first[s], second[s]);
      }
      add_column(first, x + col, job.x_stride, tile);
      if (col + 1 < job.cols) add_column(second, x + col + 1, job.x_stride, tile);
    }
    tile.store(job, strip, token);
  }
};

// bf16 in pairs of columns times activations narrowed to bf16, by an instruction for that.
template <class V>
struct DotPairStrip {
  template <int kStrips, int kTokens>
  static void tile(const StripJob& job, int64_t strip, int64_t token) {
    const std::byte* strips = job.strips + strip * job.strip_bytes;
    const int64_t stride = padded_pairs(job.cols);
    const BFloat16* x = job.narrow + token * stride;
    TileSums<V, kStrips, kTokens> tile;
    for (int64_t col = 0; col < job.cols; col += 2) {
      typename V::I w[kStrips];
#pragma GCC unroll 2
      for (int s = 0; s < kStrips; ++s) {
        w[s] = V::load_bytes(strips + s * job.strip_bytes + col * 2 * kStripRows);
      }
#pragma GCC unroll 16
      for (int t = 0; t < kTokens; ++t) {
        const typename V::I pair = V::broadcast(x + t * stride + col);
#pragma GCC unroll 2
        for (int s = 0; s < kStrips; ++s) {
          tile.sums[s][t] = V::dot_pairs(tile.sums[s][t], w[s], pair);
        }
      }
    }
    tile.store(job, strip, token);
  }
};

// Kernel's tiles over all of a job.
template <class V, class Kernel>
void multiply_plain(const StripJob& job) {
  for_tiles<V::kStrips, V::kPlainTokens>(
      job, [&]<int kStrips, int kTokens>(int64_t strip, int64_t token) {
        Kernel::template tile<kStrips, kTokens>(job, strip, token);
      });
}

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

  // Level vector k of a block.
  template <int k>
  MATADOR_DEVICE static B level(const std::byte* block) {
    const std::byte* p = block + kLayout.levels;
    if constexpr (kCode.bits == 8) {
      const B bytes = V::load_bytes(p + 64 * k);
      if constexpr (kOffset) return V::offset_signed(bytes);
      return bytes;
    } else {
      const B pair = V::load_bytes(p + 64 * (k % 4));
      const B nibbles = k < 4 ? V::low_nibbles(pair) : V::high_nibbles(pair);
      if constexpr (kCode.bits == 5) {
        return V::template with_high_bits<k, 1>(nibbles, V::load_bytes(block + kLayout.high));
      } else if constexpr (kCode.bits == 6) {
        return V::template with_high_bits<k % 4 * 2, 3>(
            nibbles, V::load_bytes(block + kLayout.high + k / 4 * 64));
      } else {
        return nibbles;
      }
    }
  }

  // Scale `index` of a block, and what its levels' minimum is.
  MATADOR_DEVICE static F scale(const std::byte* super, const std::byte* block, int index) {
    const std::byte* p = block + kLayout.scale + 16 * index;
    if constexpr (kLayout.scale_unit < 0) {
      return V::load(reinterpret_cast<const Half*>(p));
    } else {
      using Byte = std::conditional_t<kCode.scales == 1, uint8_t, int8_t>;
      return V::mul(V::load(reinterpret_cast<const Half*>(super + kLayout.scale_unit)),
                    V::load(reinterpret_cast<const Byte*>(p)));
    }
  }
  MATADOR_DEVICE static F minimum(const std::byte* super, const std::byte* block) {
    const std::byte* p = block + kLayout.minimum;
    if constexpr (kLayout.minimum_unit < 0) {
      return V::load(reinterpret_cast<const Half*>(p));
    } else {
      const F unit = V::load(reinterpret_cast<const Half*>(super + kLayout.minimum_unit));
      return V::sub(V::set(0), V::mul(unit, V::load(reinterpret_cast<const uint8_t*>(p))));
    }
  }

  MATADOR_DEVICE static I dot(I sums, B weights, const int8_t* x) {
    if constexpr (kCode.is_signed && !kOffset) return V::dot_signed(sums, weights, x);
    return V::dot(sums, weights, x);
  }

  // Exact products of some level vectors of a block with the tokens' levels, times the scales.
  // `negated` is minus the sum of a token's levels, `step` apart.
  template <int kStrips, int kTokens, int... k>
  MATADOR_DEVICE static void add_products(const StripJob& job, const std::byte* block,
                                          const int8_t* x, const int32_t* negated, int step,
                                          I (&products)[kStrips][kTokens],
                                          std::integer_sequence<int, k...>) {
#pragma GCC unroll 16
    for (int t = 0; t < kTokens; ++t) {
      I start = V::zero();
      if constexpr (kZeroLog2 >= 0) start = V::template set_shifted<kZeroLog2>(negated + step * t);
#pragma GCC unroll 2
      for (int s = 0; s < kStrips; ++s) products[s][t] = start;
    }
    auto add = [&]<int kVector>() {
      B weights[kStrips];
#pragma GCC unroll 2
      for (int s = 0; s < kStrips; ++s) weights[s] = level<kVector>(block + s * job.strip_bytes);
#pragma GCC unroll 16
      for (int t = 0; t < kTokens; ++t) {
        const int8_t* four = x + t * kActivationBlock + 4 * kVector;
#pragma GCC unroll 2
        for (int s = 0; s < kStrips; ++s) products[s][t] = dot(products[s][t], weights[s], four);
      }
    };
    (add.template operator()<k>(), ...);
  }

  template <int kStrips, int kTokens>
  MATADOR_DEVICE static void scale_products(const I (&products)[kStrips][kTokens],
                                            const F (&scales)[kStrips], const float* x_scales,
                                            TileSums<V, kStrips, kTokens>& tile) {
#pragma GCC unroll 16
    for (int t = 0; t < kTokens; ++t) {
      const F x_scale = V::set(x_scales[t]);
#pragma GCC unroll 2
      for (int s = 0; s < kStrips; ++s) {
        tile.sums[s][t] =
            V::fma(V::to_float(products[s][t]), V::mul(scales[s], x_scale), tile.sums[s][t]);
      }
    }
  }

  // Adds a block's products; at is the index of the first token's block.
  template <int kStrips, int kTokens>
  MATADOR_DEVICE static void add_block(const StripJob& job, const std::byte* super,
                                       const std::byte* block, int64_t at,
                                       TileSums<V, kStrips, kTokens>& tile) {
    const QuantisedRows& x = *job.levels;
    const int8_t* levels = x.levels + at * kActivationBlock;
    I products[kStrips][kTokens];
    F scales[kStrips];
    auto add_scaled = [&](int index) {
#pragma GCC unroll 2
      for (int s = 0; s < kStrips; ++s) {
        scales[s] = scale(super + s * job.strip_bytes, block + s * job.strip_bytes, index);
      }
      scale_products(products, scales, x.scales + at, tile);
    };
    // The two halves of a nibble vector one after the other, while it is in a register.
    if constexpr (kCode.scales == 1) {
      add_products(job, block, levels, x.negated + at, 1, products,
                   std::integer_sequence<int, 0, 4, 1, 5, 2, 6, 3, 7>());
      add_scaled(0);
    } else {
      add_products(job, block, levels, x.negated_halves + 2 * at, 2, products,
                   std::integer_sequence<int, 0, 1, 2, 3>());
      add_scaled(0);
      add_products(job, block, levels, x.negated_halves + 2 * at + 1, 2, products,
                   std::integer_sequence<int, 4, 5, 6, 7>());
      add_scaled(1);
    }
    if constexpr (kHasMinimum) {
#pragma GCC unroll 2
      for (int s = 0; s < kStrips; ++s) {
        const F low = minimum(super + s * job.strip_bytes, block + s * job.strip_bytes);
#pragma GCC unroll 16
        for (int t = 0; t < kTokens; ++t) {
          tile.sums[s][t] = V::fma(low, V::set(x.sums[at + t]), tile.sums[s][t]);
        }
      }
    }
  }

  template <int kStrips, int kTokens>
  static void tile(const StripJob& job, int64_t strip, int64_t token) {
    TileSums<V, kStrips, kTokens> tile;
    const std::byte* super = job.strips + strip * job.strip_bytes;
    int64_t at = job.levels->index(token, 0);
    for (int64_t col = 0; col < job.cols; col += kLayout.values, super += kLayout.bytes()) {
      const std::byte* block = super + kLayout.header;
      for (int sub = 0; sub < kLayout.blocks(); ++sub) {
        add_block(job, super, block, at, tile);
        block += kLayout.block;
        at += kRowGroup;
      }
    }
    tile.store(job, strip, token);
  }

  static void multiply(const StripJob& job) {
    static_assert(kRowGroup % V::kQuantisedTokens == 0);
    for_tiles<V::kStrips, V::kQuantisedTokens>(
        job, [&]<int kStrips, int kTokens>(int64_t strip, int64_t token) {
          tile<kStrips, kTokens>(job, strip, token);
        });
  }
};

// In the order of StripKind.
template <class V>
constexpr auto strip_kernels() {
  return std::array<void (*)(const StripJob&), static_cast<size_t>(StripKind::count)>{
      multiply_plain<V, PlainStrip<V, float>>,
      multiply_plain<V, PlainStrip<V, Half>>,
      multiply_plain<V, PairStrip<V>>,
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
