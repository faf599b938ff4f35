#pragma once

#include <cstdint>
#include <string_view>

#include "quant/plain.h"

namespace matador::quant {

struct I32 : Plain<int32_t> {
  static constexpr std::string_view name = "i32";
  static constexpr int ggml_type = 26;
};

}  // namespace matador::quant
