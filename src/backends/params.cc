#include "backends/params.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace matador {
namespace {

// The plain frequencies theta^(-2i / dim) of RoFormer, in double: the scalings below divide them.
std::vector<double> base_frequencies(double theta, int32_t dim) {
  std::vector<double> frequencies(static_cast<size_t>(dim / 2));
  for (size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] = std::pow(theta, -2.0 * static_cast<double>(i) / dim);
  }
  return frequencies;
}

// NTK-aware scaling of theta beyond the original context.
double dynamic_theta(const Rope& rope, int32_t length) {
  if (length <= rope.original_max_position) return rope.theta;
  double ratio = static_cast<double>(length) / rope.original_max_position;
  double growth = rope.factor * ratio - (rope.factor - 1.0);
  return rope.theta * std::pow(growth, rope.dim / (rope.dim - 2.0));
}

// Wavelengths beyond the original context are stretched, short ones kept, and those between
// interpolated (Llama 3.1).
void scale_llama3(const Rope& rope, std::vector<double>& frequencies) {
  double context = rope.original_max_position;
  for (double& frequency : frequencies) {
    double turns = context * frequency / (2 * std::numbers::pi);
    double keep = (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
    keep = std::clamp(keep, 0.0, 1.0);
    frequency = (1 - keep) * frequency / rope.factor + keep * frequency;
  }
}

// YaRN (arXiv 2309.00071): pairs that turn more than beta_fast times within the original context
// are kept, those below beta_slow stretched, with a linear ramp between.
void scale_yarn(const Rope& rope, std::vector<double>& frequencies) {
  auto pair_that_turns = [&](double turns) {
    return rope.dim * std::log(rope.original_max_position / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(static_cast<double>(rope.theta)));
  };
  double low = pair_that_turns(rope.beta_fast);
  double high = pair_that_turns(rope.beta_slow);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, rope.dim - 1.0);
  if (low == high) high += 0.001;  // as transformers: a step instead of a division by zero
  for (size_t i = 0; i < frequencies.size(); ++i) {
    double stretch = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] *= stretch / rope.factor + (1 - stretch);
  }
}

void divide(std::vector<double>& frequencies, const std::vector<float>& divisors) {
  for (size_t i = 0; i < frequencies.size() && i < divisors.size(); ++i) {
    frequencies[i] /= divisors[i];
  }
}

}  // namespace

int32_t Rope::length_class(int32_t rope_length) const {
  if (!depends_on_length() || rope_length <= original_max_position) return 0;
  return scaling == Scaling::longrope ? 1 : rope_length;
}

std::vector<float> Rope::frequencies(int32_t rope_length) const {
  double base = scaling == Scaling::dynamic ? dynamic_theta(*this, rope_length) : theta;
  std::vector<double> result = base_frequencies(base, dim);
  switch (scaling) {
    case Scaling::none:
    case Scaling::dynamic: break;
    case Scaling::linear:
      for (double& frequency : result) frequency /= factor;
      break;
    case Scaling::yarn: scale_yarn(*this, result); break;
    case Scaling::llama3: scale_llama3(*this, result); break;
    case Scaling::longrope:
      divide(result, rope_length > original_max_position ? long_factor : short_factor);
      break;
  }
  divide(result, freq_factors);
  return {result.begin(), result.end()};
}

}  // namespace matador
