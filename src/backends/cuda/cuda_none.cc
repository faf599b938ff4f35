#include <stdexcept>

#include "backends/cuda/cuda.h"

namespace matador {

bool cuda_available() { return false; }

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions&) {
  throw std::runtime_error("this build has no CUDA backend (configure with MATADOR_CUDA=ON)");
}

}  // namespace matador
