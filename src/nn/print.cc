#include "nn/print.h"

#include <sstream>
#include <string_view>

namespace matador {
namespace {

std::string_view name_of(Rope::Scaling scaling) {
  switch (scaling) {
    case Rope::Scaling::none: return "none";
    case Rope::Scaling::linear: return "linear";
    case Rope::Scaling::dynamic: return "dynamic";
    case Rope::Scaling::yarn: return "yarn";
    case Rope::Scaling::llama3: return "llama3";
    case Rope::Scaling::longrope: return "longrope";
  }
  return "?";
}

std::string print_scaling(const Rope& rope) {
  std::ostringstream out;
  out << name_of(rope.scaling);
  if (rope.scaling != Rope::Scaling::longrope) out << " x" << rope.factor;
  if (rope.scaling != Rope::Scaling::linear) out << " from " << rope.original_max_position;
  if (rope.scaling == Rope::Scaling::llama3) {
    out << " freq " << rope.low_freq_factor << " to " << rope.high_freq_factor;
  }
  if (rope.scaling == Rope::Scaling::yarn) {
    out << " beta " << rope.beta_slow << " to " << rope.beta_fast;
    if (!rope.truncate) out << " untruncated";
  }
  if (rope.attention_factor != 1) out << " attention x" << rope.attention_factor;
  return out.str();
}

}  // namespace

std::string print(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string print(Act act) {
  switch (act) {
    case Act::silu: return "silu";
    case Act::gelu: return "gelu";
    case Act::gelu_tanh: return "gelu_tanh";
    case Act::relu: return "relu";
    case Act::relu_squared: return "relu_squared";
    case Act::quick_gelu: return "quick_gelu";
  }
  return "?";
}

std::string print(const Norm& norm) {
  std::string text = norm.kind == Norm::Kind::layer ? "layer_norm(" : "rms_norm(";
  text += print(norm.eps);
  if (norm.weight_offset != 0) text += ", weight + " + print(norm.weight_offset);
  if (!norm.has_weight) text += ", no weight";
  if (norm.has_bias) text += ", bias";
  if (norm.group > 0) text += ", groups of " + std::to_string(norm.group);
  return text + ")";
}

std::string print(const Rope& rope) {
  std::string text = "rope(" + std::to_string(rope.dim) + ", theta " + print(rope.theta);
  if (rope.interleaved) text += ", interleaved";
  if (rope.scaling != Rope::Scaling::none) text += ", " + print_scaling(rope);
  if (!rope.freq_factors.empty()) text += ", own frequencies";
  return text + ")";
}

}  // namespace matador
