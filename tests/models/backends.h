// The backends that this machine can run the models on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/cpu/cpu.h"
#include "backends/cuda/cuda.h"
#include "backends/reference/reference.h"

namespace matador {

struct NamedBackend {
  std::string name;
  std::function<std::shared_ptr<Backend>()> make;
};

inline std::vector<NamedBackend> test_backends() {
  std::vector<NamedBackend> backends{{"reference", make_reference_backend}};
  for (Isa isa : available_isas()) {
    backends.push_back({"cpu_" + std::string(name_of(isa)), [isa]() -> std::shared_ptr<Backend> {
                          return make_cpu_backend({.threads = 2, .isa = isa});
                        }});
  }
  if (cuda_available()) {
    backends.push_back(
        {"cuda", []() -> std::shared_ptr<Backend> { return make_cuda_backend({}); }});
  }
  return backends;
}

}  // namespace matador
