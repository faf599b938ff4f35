// Early start (programmatic dependent launch, sm_90): a kernel that follows another may be on the
// processors before that one ends, and read meanwhile what the other does not write.
#pragma once

#include <cuda_runtime.h>

#include "backends/cuda/error.h"

namespace matador::cuda {

// In the earlier kernel: the next one may start. It still waits for all of this one.
__device__ __forceinline__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// In the later kernel: before the first use of anything that was computed on the stream.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

struct Launch {
  dim3 blocks;
  dim3 threads;
  size_t shared_bytes = 0;
};

// Launches a kernel that calls wait_for_previous.
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), const Launch& launch, cudaStream_t stream,
                  const Arguments&... arguments) {
  int device = 0, major = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "cudaDeviceGetAttribute");
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = launch.blocks;
  config.blockDim = launch.threads;
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = major >= 9 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "cudaLaunchKernelEx");
}

}  // namespace matador::cuda
