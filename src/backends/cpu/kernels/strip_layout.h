// StripLayout: the bytes of a strip of 16 rows, for each kind. "16 of T" is one T a row.
//
// Plain kinds: for each column, 16 of the number; bf16 for each pair of columns, 16 of a pair, the
// last padded with zeros, as instructions that multiply pairs want it.
//
// Quantised kinds: for each block of 32 columns (or super-block of 256) the fields below, each an
// offset from the block's beginning. Levels lie so that vector k of eight holds, in the four bytes
// of lane r, columns 4k to 4k + 3 of row r. Nibbles are four vectors: k in the low nibbles and
// k + 4 in the high ones. A high-bit vector keeps bit(s) of vector k at bit(s) k (5-bit kinds), or
// 2 (k % 4) of high vector k / 4 (6-bit kinds), of the same byte.
#pragma once

#include <cstdint>

namespace matador::cpu {

// Where a quantised kind keeps what. A negative offset means it has none.
struct StripLayout {
  int values = 32;  // columns a (super-)block holds
  int header = 0;   // bytes before the first sub-block
  int block = 0;    // bytes of a sub-block of 32 columns
  // In the header:
  int scale_unit = -1;    // 16 of half
  int minimum_unit = -1;  // 16 of half
  // In the sub-block:
  int scale = -1;    // 16 of half, or of a byte in units of the header's
  int minimum = -1;  // the same
  int high = -1;     // high-bit vectors
  int levels = 0;    // nibbles or bytes

  constexpr int blocks() const { return values / 32; }
  constexpr int bytes() const { return header + blocks() * block; }
};

constexpr StripLayout kLayoutQ4_0{.block = 288, .scale = 0, .levels = 32};
constexpr StripLayout kLayoutQ4_1{.block = 320, .scale = 0, .minimum = 32, .levels = 64};
constexpr StripLayout kLayoutQ5_0{.block = 352, .scale = 0, .high = 32, .levels = 96};
constexpr StripLayout kLayoutQ5_1{
    .block = 384, .scale = 0, .minimum = 32, .high = 64, .levels = 128};
constexpr StripLayout kLayoutQ8_0{.block = 544, .scale = 0, .levels = 32};
constexpr StripLayout kLayoutQ4_K{.values = 256,
                                  .header = 64,
                                  .block = 288,
                                  .scale_unit = 0,
                                  .minimum_unit = 32,
                                  .scale = 0,
                                  .minimum = 16,
                                  .levels = 32};
constexpr StripLayout kLayoutQ5_K{.values = 256,
                                  .header = 64,
                                  .block = 352,
                                  .scale_unit = 0,
                                  .minimum_unit = 32,
                                  .scale = 0,
                                  .minimum = 16,
                                  .high = 32,
                                  .levels = 96};
// Two scales a sub-block, of 16 columns each.
constexpr StripLayout kLayoutQ6_K{.values = 256,
                                  .header = 32,
                                  .block = 416,
                                  .scale_unit = 0,
                                  .scale = 0,
                                  .high = 32,
                                  .levels = 160};

}  // namespace matador::cpu
