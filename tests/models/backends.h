// The backends that this build can test on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/reference/reference.h"

namespace matador {

struct NamedBackend {
  std::string name;
  std::function<std::shared_ptr<Backend>()> make;
};

inline std::vector<NamedBackend> test_backends() { return {{"reference", make_reference_backend}}; }

}  // namespace matador
