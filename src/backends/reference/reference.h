// The reference backend: every operation in plain loops, f32 activations, f64 sums. It is the
// oracle that other backends are tested against, and runs any model, slowly.
#pragma once

#include <memory>

#include "backends/backend.h"

namespace matador {

std::shared_ptr<Backend> make_reference_backend();

}  // namespace matador
