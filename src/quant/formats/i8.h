#pragma once

#include <cstdint>
#include <string_view>

#include "quant/plain.h"

namespace matador::quant {

struct I8 : Plain<int8_t> {
  static constexpr std::string_view name = "i8";
  static constexpr int ggml_type = 24;
};

}  // namespace matador::quant
