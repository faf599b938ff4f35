// Names: from the role of a weight ("attn.q") to the tensors of a checkpoint that may hold it.
//
// Two tables exist: Llama's Hugging Face names, of which an architecture states its differences,
// and one for GGUF, whose names are the same for all architectures.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/checkpoint.h"

namespace matador {

// How a tensor holds its roles.
enum class Layout : uint8_t {
  stacked,     // rows of one after those of another
  by_part,     // the first part of each, the second part of each... (Role::parts)
  transposed,  // [in, out]: columns of one after those of another
  transposed_by_part,
  first_turned,  // stacked, of which only the first role is transposed
};

// A tensor (without ".weight" or ".bias") that holds these roles. "{}" stands for the layer's
// number, a second one for that of a part (Role::parts) where each part of a vector is a tensor, or
// of a matrix (Role::count) where each of a stack is one.
struct NameRule {
  std::vector<std::string_view> roles;
  std::string tensor;
  Layout layout = Layout::stacked;
};

// The rules, their tensors under any of these prefixes.
std::vector<NameRule> with_prefixes(std::span<const std::string_view> prefixes,
                                    std::span<const NameRule> rules);

class Names {
 public:
  // `differences` come before the Hugging Face table; a rule there replaces all others for its
  // roles. GGUF needs none, so they are not applied to it.
  Names(NameStyle style, const std::vector<NameRule>& differences);

  struct Place {
    std::string tensor;                   // the layer's number filled in
    std::vector<std::string_view> roles;  // what it holds, in order
    Layout layout = Layout::stacked;
  };
  // Where the role may be, the most likely first. The roles of the ends ("embed", "final_norm",
  // "head") have no layer.
  std::vector<Place> places(std::string_view role, int32_t layer) const;

 private:
  std::vector<NameRule> rules_;
};

}  // namespace matador
