// StepTimer: how long the device has worked on steps, by events on its stream; nobody waits for it.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>

namespace matador::cuda {

class StepTimer {
 public:
  StepTimer();
  ~StepTimer();
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

  void begin(cudaStream_t stream);
  void end(cudaStream_t stream);
  // Of all steps that have ended.
  double seconds();

 private:
  struct Step {
    cudaEvent_t begin = nullptr, end = nullptr;
  };
  std::array<Step, 8> steps_;  // the last; more are never under way
  size_t next_ = 0, oldest_ = 0;
  double seconds_ = 0;
};

}  // namespace matador::cuda
