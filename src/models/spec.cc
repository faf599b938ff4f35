#include "models/spec.h"

#include <sstream>

#include "nn/print.h"

namespace matador {
namespace {

std::string print_path(const Path& path) {
  std::string text;
  if (path.in) text += print(path.in) + " -> ";
  text += std::visit([](const auto& op) { return print(op); }, path.op);
  if (path.out) text += " -> " + print(path.out);
  return text;
}

std::string print_layer(const Layer& layer) {
  std::ostringstream out;
  for (const Residual& residual : layer) {
    out << "  x +";
    if (residual.scale != 1) out << ' ' << residual.scale << " *";
    std::string_view separator = " ";
    for (const Path& path : residual.paths) {
      out << separator << path.name << ": " << print_path(path);
      separator = " + ";
    }
    if (residual.after) out << ", then " << print(residual.after);
    out << '\n';
  }
  return out.str();
}

void print_ends(const DecoderSpec& spec, std::ostream& out) {
  out << "final norm: " << print(spec.final_norm) << '\n';
  out << (spec.tied_head ? "head: tied to embed" : "head");
  if (spec.head_bias) out << ", bias";
  if (spec.logit_softcap > 0) out << ", softcap " << spec.logit_softcap;
  if (spec.logit_factor != 1) out << ", times " << spec.logit_factor;
  out << '\n';
}

}  // namespace

std::string print(const DecoderSpec& spec) {
  std::ostringstream out;
  out << "embed: " << spec.vocab_size << " tokens of " << spec.hidden_size;
  if (spec.embedding_factor != 1) out << ", times " << spec.embedding_factor;
  out << '\n';
  for (size_t first = 0; first < spec.layers.size();) {
    const std::string layer = print_layer(spec.layers[first]);
    size_t last = first;
    while (last + 1 < spec.layers.size() && print_layer(spec.layers[last + 1]) == layer) ++last;
    out << "layer " << first;
    if (last > first) out << " to " << last;
    out << ":\n" << layer;
    first = last + 1;
  }
  print_ends(spec, out);
  return out.str();
}

}  // namespace matador
