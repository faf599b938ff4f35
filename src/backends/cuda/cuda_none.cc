#include <stdexcept>

#include "backends/cuda/cuda.h"

namespace matador {

std::string cuda_problem(int) {
  return "this build has no CUDA backend (configure with MATADOR_CUDA=ON)";
}

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options) {
  throw std::runtime_error(cuda_problem(options.device));
}

}  // namespace matador
