// The device a model runs on, by the name that the command line has for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/backend.h"
#include "core/result.h"

namespace matador {

struct DeviceOptions {
  // "cpu"; "cuda" or "cuda:N", an NVIDIA GPU; "auto", the first GPU where this build can use one,
  // else the CPU.
  std::string name = "auto";
  int32_t threads = 0;        // of the CPU backend; 0: all cores
  bool reproducible = false;  // as in CudaOptions; the CPU's results always are
};

// An unknown name is invalid; a device that is not there is unsupported, and the error says why.
Result<std::shared_ptr<Backend>> open_device(const DeviceOptions& options);

}  // namespace matador
