#pragma once

#include <cstdint>
#include <string_view>

#include "quant/plain.h"

namespace matador::quant {

struct U8 : Plain<uint8_t> {
  static constexpr std::string_view name = "u8";
  static constexpr int ggml_type = -1;
};

}  // namespace matador::quant
