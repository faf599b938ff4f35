#include "backends/cpu/packing.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/strip_layout.h"
#include "quant/all_formats.h"

namespace matador::cpu {
namespace {

constexpr int64_t kStretchBytes = 16 << 20;  // packed before their source is given back

// Packs one strip: `rows` of its rows exist, `row_bytes` apart.
using PackStrip = void (*)(const std::byte* data, int64_t row_bytes, int rows, int64_t cols,
                           std::byte* strip);

template <class T>
void pack_plain(const std::byte* data, int64_t row_bytes, int rows, int64_t cols,
                std::byte* strip) {
  for (int row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      std::memcpy(strip + (col * kStripRows + row) * static_cast<int64_t>(sizeof(T)),
                  data + row * row_bytes + col * static_cast<int64_t>(sizeof(T)), sizeof(T));
    }
  }
}

void pack_pairs(const std::byte* data, int64_t row_bytes, int rows, int64_t cols,
                std::byte* strip) {
  for (int row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      std::memcpy(strip + (col / 2 * 2 * kStripRows + row * 2 + col % 2) * 2,
                  data + row * row_bytes + col * 2, 2);
    }
  }
}

// kCount bytes of row `row`, four a vector.
template <int kCount>
void put_bytes(const void* bytes, int row, std::byte* out) {
  for (int i = 0; i < kCount; i += 4) {
    std::memcpy(out + i * 16 + row * 4, static_cast<const std::byte*>(bytes) + i, 4);
  }
}

void put_nibbles(const uint8_t* levels, int row, std::byte* out) {
  uint8_t pairs[16];
  for (int i = 0; i < 16; ++i) {
    pairs[i] = static_cast<uint8_t>((levels[i] & 15) | (levels[i + 16] << 4));
  }
  put_bytes<16>(pairs, row, out);
}

// kBits high bits (1 or 2) of 32 levels.
template <int kBits>
void put_high_bits(const uint8_t* levels, int row, std::byte* out) {
  uint8_t high[4 * kBits] = {};
  for (int i = 0; i < 32; ++i) {
    const int vector = i / 4;
    high[vector * kBits / 8 * 4 + i % 4] |=
        static_cast<uint8_t>((levels[i] >> 4) << (vector * kBits % 8));
  }
  put_bytes<4 * kBits>(high, row, out);
}

void put_half(Half half, int row, std::byte* out) { std::memcpy(out + 2 * row, &half, 2); }

// One block of one row into its place in the strip, for each format.
void put(const quant::Q4_0::Block& block, int row, std::byte* out) {
  constexpr StripLayout kLayout = kLayoutQ4_0;
  put_half(block.scale, row, out + kLayout.scale);
  put_bytes<16>(block.nibbles, row, out + kLayout.levels);
}

void put(const quant::Q4_1::Block& block, int row, std::byte* out) {
  constexpr StripLayout kLayout = kLayoutQ4_1;
  put_half(block.scale, row, out + kLayout.scale);
  put_half(block.minimum, row, out + kLayout.minimum);
  put_bytes<16>(block.nibbles, row, out + kLayout.levels);
}

// The 32 levels of a 5-bit block, whose nibbles and fifth bits lie as in Q5_0 and Q5_1.
template <class Block>
void put_five_bits(const Block& block, int row, const StripLayout& layout, std::byte* out) {
  uint8_t levels[32];
  for (int i = 0; i < 32; ++i) {
    const int nibble = (block.nibbles[i % 16] >> (i / 16 * 4)) & 15;
    const int fifth = (block.high[i / 8] >> (i % 8)) & 1;
    levels[i] = static_cast<uint8_t>(nibble | (fifth << 4));
  }
  put_nibbles(levels, row, out + layout.levels);
  put_high_bits<1>(levels, row, out + layout.high);
}

void put(const quant::Q5_0::Block& block, int row, std::byte* out) {
  put_half(block.scale, row, out + kLayoutQ5_0.scale);
  put_five_bits(block, row, kLayoutQ5_0, out);
}

void put(const quant::Q5_1::Block& block, int row, std::byte* out) {
  put_half(block.scale, row, out + kLayoutQ5_1.scale);
  put_half(block.minimum, row, out + kLayoutQ5_1.minimum);
  put_five_bits(block, row, kLayoutQ5_1, out);
}

void put(const quant::Q8_0::Block& block, int row, std::byte* out) {
  constexpr StripLayout kLayout = kLayoutQ8_0;
  put_half(block.scale, row, out + kLayout.scale);
  put_bytes<32>(block.levels, row, out + kLayout.levels);
}

void put(const quant::Q4_K::Block& block, int row, std::byte* out) {
  constexpr StripLayout kLayout = kLayoutQ4_K;
  put_half(block.scale_unit, row, out + kLayout.scale_unit);
  put_half(block.minimum_unit, row, out + kLayout.minimum_unit);
  for (int sub = 0; sub < 8; ++sub) {
    std::byte* at = out + kLayout.header + sub * kLayout.block;
    at[kLayout.scale + row] = std::byte(block.scales.scale(sub));
    at[kLayout.minimum + row] = std::byte(block.scales.minimum(sub));
    uint8_t levels[32];
    for (int i = 0; i < 32; ++i) {
      levels[i] = (block.nibbles[sub / 2 * 32 + i] >> (sub % 2 * 4)) & 15;
    }
    put_nibbles(levels, row, at + kLayout.levels);
  }
}

void put(const quant::Q5_K::Block& block, int row, std::byte* out) {
  constexpr StripLayout kLayout = kLayoutQ5_K;
  put_half(block.scale_unit, row, out + kLayout.scale_unit);
  put_half(block.minimum_unit, row, out + kLayout.minimum_unit);
  for (int sub = 0; sub < 8; ++sub) {
    std::byte* at = out + kLayout.header + sub * kLayout.block;
    at[kLayout.scale + row] = std::byte(block.scales.scale(sub));
    at[kLayout.minimum + row] = std::byte(block.scales.minimum(sub));
    uint8_t levels[32];
    for (int i = 0; i < 32; ++i) {
      const int nibble = (block.nibbles[sub / 2 * 32 + i] >> (sub % 2 * 4)) & 15;
      const int fifth = (block.high[i] >> sub) & 1;
      levels[i] = static_cast<uint8_t>(nibble | (fifth << 4));
    }
    put_nibbles(levels, row, at + kLayout.levels);
    put_high_bits<1>(levels, row, at + kLayout.high);
  }
}

void put(const quant::Q6_K::Block& block, int row, std::byte* out) {
  constexpr StripLayout kLayout = kLayoutQ6_K;
  put_half(block.scale_unit, row, out + kLayout.scale_unit);
  for (int run = 0; run < 8; ++run) {
    std::byte* at = out + kLayout.header + run * kLayout.block;
    at[kLayout.scale + row] = std::byte(block.scales[2 * run]);
    at[kLayout.scale + 16 + row] = std::byte(block.scales[2 * run + 1]);
    uint8_t levels[32];
    for (int i = 0; i < 32; ++i) {
      const int low = block.low[run / 4 * 64 + run % 2 * 32 + i] >> (run % 4 / 2 * 4);
      const int high = block.high[run / 4 * 32 + i] >> (run % 4 * 2);
      levels[i] = static_cast<uint8_t>((low & 15) | ((high & 3) << 4));
    }
    put_nibbles(levels, row, at + kLayout.levels);
    put_high_bits<2>(levels, row, at + kLayout.high);
  }
}

template <class F, StripLayout kLayout>
void pack_blocks(const std::byte* data, int64_t row_bytes, int rows, int64_t cols,
                 std::byte* strip) {
  static_assert(F::values == kLayout.values);
  for (int row = 0; row < rows; ++row) {
    for (int64_t b = 0; b < cols / F::values; ++b) {
      typename F::Block block;  // copied, for its alignment
      std::memcpy(&block, data + row * row_bytes + b * int64_t{sizeof(block)}, sizeof(block));
      put(block, row, strip + b * kLayout.bytes());
    }
  }
}

struct Packing {
  std::string_view format;
  StripKind kind;
  int values, block_bytes;  // of a strip's (super-)block
  PackStrip pack;
};

template <class F>
constexpr Packing plain(StripKind kind) {
  return {F::name, kind, 1, kStripRows * int{sizeof(typename F::Block)},
          pack_plain<typename F::Block>};
}
template <class F, StripLayout kLayout>
constexpr Packing quantised(StripKind kind) {
  return {F::name, kind, kLayout.values, kLayout.bytes(), pack_blocks<F, kLayout>};
}

constexpr Packing kPackings[] = {
    plain<quant::F32>(StripKind::f32),
    plain<quant::F16>(StripKind::f16),
    Packing{quant::BF16::name, StripKind::bf16, 2, 4 * kStripRows, pack_pairs},
    quantised<quant::Q4_0, kLayoutQ4_0>(StripKind::q4_0),
    quantised<quant::Q4_1, kLayoutQ4_1>(StripKind::q4_1),
    quantised<quant::Q5_0, kLayoutQ5_0>(StripKind::q5_0),
    quantised<quant::Q5_1, kLayoutQ5_1>(StripKind::q5_1),
    quantised<quant::Q8_0, kLayoutQ8_0>(StripKind::q8_0),
    quantised<quant::Q4_K, kLayoutQ4_K>(StripKind::q4_k),
    quantised<quant::Q5_K, kLayoutQ5_K>(StripKind::q5_k),
    quantised<quant::Q6_K, kLayoutQ6_K>(StripKind::q6_k),
};

}  // namespace

std::optional<StripKind> strip_kind_of(const Format& format) {
  for (const Packing& packing : kPackings) {
    if (packing.format == format.name) return packing.kind;
  }
  return std::nullopt;
}

PackedMatrix pack(StripKind kind, const Weight& weight, ThreadPool& threads, const Packed& packed) {
  const Packing& packing = *std::find_if(std::begin(kPackings), std::end(kPackings),
                                         [&](const Packing& p) { return p.kind == kind; });
  const int64_t cols = weight.cols;
  PackedMatrix matrix;
  matrix.kind = kind;
  matrix.strips = (weight.rows + kStripRows - 1) / kStripRows;
  matrix.strip_bytes = (cols + packing.values - 1) / packing.values * packing.block_bytes;
  const int64_t strips = weight.count * matrix.strips;
  matrix.bytes = AlignedBytes(static_cast<size_t>(strips * matrix.strip_bytes));
  // The rows of a strip, counted over all matrices.
  auto first_row = [&](int64_t strip) {
    return strip / matrix.strips * weight.rows + strip % matrix.strips * kStripRows;
  };
  auto pack_strip = [&](int64_t index) {
    std::byte* strip = matrix.bytes.data() + index * matrix.strip_bytes;
    const int64_t left = weight.rows - index % matrix.strips * kStripRows;
    const int rows = static_cast<int>(std::min<int64_t>(kStripRows, left));
    std::memset(strip, 0, static_cast<size_t>(matrix.strip_bytes));
    packing.pack(weight.data + first_row(index) * weight.row_bytes(), weight.row_bytes(), rows,
                 cols, strip);
  };
  const ThreadPool::Awake awake(threads);
  const int64_t stretch = std::max<int64_t>(1, kStretchBytes / matrix.strip_bytes);
  for (int64_t begin = 0; begin < strips; begin += stretch) {
    const int64_t end = std::min(strips, begin + stretch);
    threads.run(end - begin, [&](int64_t index, int) { pack_strip(begin + index); });
    packed(weight.data + first_row(begin) * weight.row_bytes(),
           weight.data + first_row(end) * weight.row_bytes());
  }
  return matrix;
}

}  // namespace matador::cpu
