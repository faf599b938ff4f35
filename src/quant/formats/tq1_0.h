// TQ1_0: 256 ternary values (-1, 0, 1) times one scale, five to a byte. A byte is a fraction in
// base three, its digits found by multiplying with powers of three; see trit_of.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/half.h"

namespace matador::quant {

struct TQ1_0 {
  static constexpr std::string_view name = "tq1_0";
  static constexpr int values = 256;
  static constexpr int ggml_type = 34;
  struct Block {
    uint8_t fives[48];  // 32 bytes: value 32 d + i is digit d of byte i; then 16 bytes likewise
    uint8_t fours[4];   // value 240 + 4 d + i is digit d of byte i
    Half scale;
  };
  static_assert(sizeof(Block) == 54);

  // The first digit of the fraction byte / 256 after a shift of the point by `power` = 3^d.
  MATADOR_DEVICE static int trit_of(uint8_t byte, int power) {
    const auto fraction = static_cast<uint8_t>(byte * power);
    return (fraction * 3) / 256 - 1;
  }

  MATADOR_DEVICE static void decode_run(const uint8_t* bytes, int count, int digits, float scale,
                                        float* out) {
    int power = 1;
    for (int digit = 0; digit < digits; ++digit, power *= 3) {
      for (int i = 0; i < count; ++i) {
        out[digit * count + i] = scale * static_cast<float>(trit_of(bytes[i], power));
      }
    }
  }

  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    const float scale = to_float(block.scale);
    decode_run(block.fives, 32, 5, scale, out);
    decode_run(block.fives + 32, 16, 5, scale, out + 160);
    decode_run(block.fours, 4, 4, scale, out + 240);
  }
};

}  // namespace matador::quant
