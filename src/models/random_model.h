// A model of a config's shape with random weights, made where it runs: for measuring speed without
// a checkpoint.
#pragma once

#include <memory>

#include "core/config.h"
#include "models/model.h"

namespace matador {

// Matrices are bf16, norms 1, biases 0; the same config gives the same weights.
Result<std::unique_ptr<Model>> make_random_model(const Config& config, Backend& backend,
                                                 const LoadOptions& options);

}  // namespace matador
