// The CUDA backend: NVIDIA GPUs from Turing (sm_75) on. Activations are bf16, or f32 where the
// embedding table was loaded with Precision::exact.
//
// Steps of decodes only are captured into a CUDA graph the second time their shape is seen, and
// replayed from then on. A weight of Precision::fast that is stored as f32 or f16 is kept as bf16.
//
// This header needs no CUDA: a build without MATADOR_CUDA has the same functions and no device.
#pragma once

#include <memory>
#include <string>

#include "backends/backend.h"

namespace matador {

struct CudaOptions {
  int device = 0;
  // Off: every step launches its kernels one by one. Needed where one StepKey stands for several
  // programs, as in tests of single operations.
  bool graphs = true;
  // On: products of Precision::fast give a token the same bits in any batch, as backends/backend.h
  // promises; longer steps and prompts take longer, several times so before Hopper. Off: steps of
  // more than 64 tokens (16 before Hopper) may round otherwise than smaller ones. Attention and
  // Precision::exact keep the promise either way.
  bool reproducible = false;
};

// Why this build or machine cannot use this GPU; empty where it can.
std::string cuda_problem(int device);
inline bool cuda_available() { return cuda_problem(0).empty(); }
// Throws std::runtime_error where there is no such device.
std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options);

}  // namespace matador
