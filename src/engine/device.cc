#include "engine/device.h"

#include <charconv>
#include <exception>
#include <optional>
#include <string_view>

#include "backends/cpu/cpu.h"
#include "backends/cuda/cuda.h"

namespace matador {

namespace {

// The N of "cuda:N"; 0 of "cuda".
std::optional<int> cuda_index(std::string_view name) {
  if (name == "cuda") return 0;
  if (!name.starts_with("cuda:")) return std::nullopt;
  const std::string_view digits = name.substr(5);
  int index = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), index);
  if (error != std::errc() || end != digits.end() || index < 0) return std::nullopt;
  return index;
}

Result<std::shared_ptr<Backend>> open_cpu(const DeviceOptions& options) {
  return std::shared_ptr<Backend>(make_cpu_backend({.threads = options.threads, .isa = {}}));
}

Result<std::shared_ptr<Backend>> open_cuda(int index, const DeviceOptions& options) {
  if (const std::string problem = cuda_problem(index); !problem.empty()) {
    return unsupported("device: " + options.name + " was asked for, but " + problem);
  }
  return std::shared_ptr<Backend>(
      make_cuda_backend({.device = index, .reproducible = options.reproducible}));
}

}  // namespace

Result<std::shared_ptr<Backend>> open_device(const DeviceOptions& options) {
  try {
    if (options.name == "cpu") return open_cpu(options);
    if (options.name == "auto") {
      return cuda_problem(0).empty() ? open_cuda(0, options) : open_cpu(options);
    }
    if (const std::optional<int> index = cuda_index(options.name)) {
      return open_cuda(*index, options);
    }
    return invalid_argument("device: must be auto, cpu, cuda or cuda:N, not '" + options.name +
                            "'");
  } catch (const std::exception& fault) {
    return Error{ErrorCode::internal, "device: opening " + options.name + ": " + fault.what()};
  }
}

}  // namespace matador
