#pragma once

#include <string_view>

#include "quant/plain.h"

namespace matador::quant {

struct F32 : Plain<float> {
  static constexpr std::string_view name = "f32";
  static constexpr int ggml_type = 0;
};

}  // namespace matador::quant
