// Names: from the role of a weight ("attn.q") to the tensors of a checkpoint that may hold it.
//
// Two tables exist: Llama's Hugging Face names, of which an architecture states its differences,
// and one for GGUF, whose names are the same for all architectures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weights/checkpoint.h"

namespace matador {

// A tensor (without ".weight" or ".bias") that holds these roles, one after another in its rows.
// "{}" stands for the layer's number.
struct NameRule {
  std::vector<std::string_view> roles;
  std::string tensor;
};

class Names {
 public:
  // `differences` come before the Hugging Face table; a rule there replaces all others for its
  // roles. GGUF needs none, so they are not applied to it.
  Names(NameStyle style, const std::vector<NameRule>& differences);

  struct Place {
    std::string tensor;                   // the layer's number filled in
    std::vector<std::string_view> roles;  // what its rows hold, in order
  };
  // Where the role may be, the most likely first. The roles of the ends ("embed", "final_norm",
  // "head") have no layer.
  std::vector<Place> places(std::string_view role, int32_t layer) const;

 private:
  std::vector<NameRule> rules_;
};

}  // namespace matador
