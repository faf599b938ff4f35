// What several operations of the reference backend share.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "backends/params.h"
#include "quant/weight.h"

namespace matador {

// `row` counts the rows of all matrices of a stack.
inline std::vector<float> decoded_row(const Weight& w, int64_t row) {
  std::vector<float> values(static_cast<size_t>(w.cols));
  w.format->decode(w.data + row * w.row_bytes(), values.data(), w.cols);
  return values;
}

// Row `row` of w times x, plus its bias.
inline float dot_row(const Weight& w, int64_t row, const float* x) {
  const std::vector<float> weights = decoded_row(w, row);
  double sum = w.bias != nullptr ? w.bias[row] : 0;
  for (size_t i = 0; i < weights.size(); ++i) sum += double{weights[i]} * x[i];
  return static_cast<float>(sum);
}

inline float apply_act(float x, Act act) {
  switch (act) {
    case Act::silu: return x / (1 + std::exp(-x));
    case Act::gelu: return 0.5F * x * (1 + std::erf(x / std::numbers::sqrt2_v<float>));
    case Act::gelu_tanh: {
      const float inner =
          std::sqrt(2 * std::numbers::inv_pi_v<float>) * (x + 0.044715F * x * x * x);
      return 0.5F * x * (1 + std::tanh(inner));
    }
    case Act::relu: return std::max(x, 0.0F);
    case Act::relu_squared: return std::max(x, 0.0F) * std::max(x, 0.0F);
    case Act::quick_gelu: return x / (1 + std::exp(-1.702F * x));
  }
  return x;
}

}  // namespace matador
