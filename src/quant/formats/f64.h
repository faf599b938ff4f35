#pragma once

#include <string_view>

#include "quant/plain.h"

namespace matador::quant {

struct F64 : Plain<double> {
  static constexpr std::string_view name = "f64";
  static constexpr int ggml_type = 28;
};

}  // namespace matador::quant
