#pragma once

#include <string_view>

#include "core/half.h"

namespace matador::quant {

struct F16 {
  static constexpr std::string_view name = "f16";
  static constexpr int values = 1;
  static constexpr int ggml_type = 1;
  struct Block {
    Half value;
  };
  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    *out = to_float(block.value);
  }
  MATADOR_DEVICE static void encode(const float* in, Block& block) { block.value = to_half(*in); }
};

}  // namespace matador::quant
