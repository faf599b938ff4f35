#pragma once

#include <cstdint>
#include <string_view>

#include "quant/plain.h"

namespace matador::quant {

struct I64 : Plain<int64_t> {
  static constexpr std::string_view name = "i64";
  static constexpr int ggml_type = 27;
};

}  // namespace matador::quant
