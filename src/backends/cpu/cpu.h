// The CPU backend: packed weights, int8 activations where the weight's precision allows, paged
// attention, and a pool of threads that sleeps between steps.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/cpu/isa.h"

namespace matador {

struct CpuOptions {
  int threads = 0;         // 0: one for each core this process may use
  std::optional<Isa> isa;  // the best that the machine has, unless given
};

// Throws std::runtime_error where the machine lacks `options.isa`.
std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options);

}  // namespace matador
