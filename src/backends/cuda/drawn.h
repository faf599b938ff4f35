// Drawn: what steps draw, on the device and on its way to the host. A step's results may be asked
// for when the next is running already, so there is room for two on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>

#include "backends/cuda/kernels/sample.h"
#include "backends/cuda/memory.h"

namespace matador::cuda {

class Drawn {
 public:
  Drawn();
  ~Drawn();
  Drawn(const Drawn&) = delete;
  Drawn& operator=(const Drawn&) = delete;

  // Room for a step's draws. True where it has moved, so that graphs captured before are void.
  bool reserve(const Draws& draws);
  // Where the kernels write.
  DrawOutput output() const;
  // Starts the transfer of a step's results to the host, after the step's kernels.
  void send(const Draws& draws, cudaStream_t stream);
  // Waits for the oldest that were sent and not taken.
  DrawResults take();

 private:
  struct Sent {
    PinnedMemory tokens, logprobs;
    size_t count = 0;
    bool has_logprobs = false;
    cudaEvent_t arrived = nullptr;
  };

  DeviceMemory tokens_, logprobs_;
  std::array<Sent, 2> sent_;
  size_t next_ = 0;    // to be sent into
  size_t oldest_ = 0;  // not taken
};

}  // namespace matador::cuda
