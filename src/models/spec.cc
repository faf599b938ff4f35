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

std::string print_paths(const Residual& residual) {
  std::string text;
  for (const Path& path : residual.paths) {
    if (!text.empty()) text += " + ";
    text += std::string(path.name) + ": " + print_path(path);
  }
  if (!residual.in) return text;
  return print(residual.in) + " -> (" + text + ")";
}

std::string print_layer(const Layer& layer) {
  std::ostringstream out;
  for (const Residual& residual : layer) {
    out << (residual.adds_to_normed ? "  normed x +" : "  x +");
    if (residual.scale != 1) out << ' ' << residual.scale << " *";
    out << ' ' << print_paths(residual);
    if (residual.after) out << ", then " << print(residual.after);
    out << '\n';
  }
  return out.str();
}

void print_ends(const DecoderSpec& spec, std::ostream& out) {
  out << "final norm: " << (spec.final_norm ? print(spec.final_norm) : "none") << '\n';
  out << (spec.tied_head ? "head: tied to embed" : "head");
  if (spec.embedding_size > 0) out << ", from " << spec.embedding_size;
  if (spec.unit_head) out << ", unit rows";
  if (spec.head_bias) out << ", bias";
  if (spec.logit_softcap > 0) out << ", softcap " << spec.logit_softcap;
  if (spec.logit_factor != 1) out << ", times " << spec.logit_factor;
  out << '\n';
}

}  // namespace

std::optional<KvLayer> paged_state(const SubLayer& op, KvType type, int32_t block_size) {
  return std::visit(
      [&](const auto& o) -> std::optional<KvLayer> {
        if constexpr (requires { kv_layer(o, type, block_size); }) {
          return kv_layer(o, type, block_size);
        }
        return std::nullopt;
      },
      op);
}

const Rope* rope_of(const SubLayer& op) {
  return std::visit(
      [](const auto& o) -> const Rope* {
        if constexpr (requires { o.rope; }) return &o.rope;
        return nullptr;
      },
      op);
}

std::string print(const DecoderSpec& spec) {
  std::ostringstream out;
  out << "embed: " << spec.vocab_size << " tokens of " << spec.hidden_size;
  if (spec.embedding_factor != 1) out << ", times " << spec.embedding_factor;
  if (spec.embedding_size > 0) out << ", from " << spec.embedding_size;
  if (spec.positions.rows > 0) {
    out << ", plus " << spec.positions.rows << " positions from row " << spec.positions.offset;
  }
  if (spec.embedding_norm) out << ", then " << print(spec.embedding_norm);
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
