#pragma once

#include <cstdint>
#include <string_view>

#include "quant/plain.h"

namespace matador::quant {

struct I16 : Plain<int16_t> {
  static constexpr std::string_view name = "i16";
  static constexpr int ggml_type = 25;
};

}  // namespace matador::quant
