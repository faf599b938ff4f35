// Reads a rotary embedding from a config: rope_scaling beside rope_theta (with `type` or
// `rope_type`), or the rope_parameters object that replaces both since transformers 5.
#pragma once

#include <cstdint>
#include <string>

#include "backends/params.h"
#include "models/config_reader.h"

namespace matador {

struct RopeKeys {
  std::string parameters = {};       // the object; "": rope_scaling, else rope_parameters
  std::string theta = "rope_theta";  // where the object has none
  float default_theta = 10000;
  int32_t default_original_max_position = 0;  // 0: max_position_embeddings
  float default_partial = 1;                  // partial_rotary_factor
  bool interleaved = false;
};

// For heads of `head_dim` features, of which partial_rotary_factor are rotated. An unknown type is
// recorded as a problem.
Rope read_rope(ConfigReader& c, int32_t head_dim, const RopeKeys& keys = {});

// The longest context of a model with this rope, whose max_position_embeddings is `stated`: linear,
// dynamic and yarn scalings stretch what the number says of the training (as vLLM has it); for
// longrope and llama3 it is the stretched length already.
int32_t extended_context(const Rope& rope, int32_t stated);

}  // namespace matador
