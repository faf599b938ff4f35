#include "backends/cuda/step_timer.h"

#include "backends/cuda/error.h"

namespace matador::cuda {

StepTimer::StepTimer() {
  for (Step& step : steps_) {
    check(cudaEventCreate(&step.begin), "cudaEventCreate");
    check(cudaEventCreate(&step.end), "cudaEventCreate");
  }
}

StepTimer::~StepTimer() {
  for (Step& step : steps_) {
    cudaEventDestroy(step.begin);
    cudaEventDestroy(step.end);
  }
}

void StepTimer::begin(cudaStream_t stream) {
  seconds();
  if (next_ - oldest_ == steps_.size()) ++oldest_;
  check(cudaEventRecord(steps_[next_ % steps_.size()].begin, stream), "cudaEventRecord");
}

void StepTimer::end(cudaStream_t stream) {
  check(cudaEventRecord(steps_[next_++ % steps_.size()].end, stream), "cudaEventRecord");
}

double StepTimer::seconds() {
  for (; oldest_ < next_; ++oldest_) {
    const Step& step = steps_[oldest_ % steps_.size()];
    if (cudaEventQuery(step.end) != cudaSuccess) break;
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, step.begin, step.end), "cudaEventElapsedTime");
    seconds_ += 1e-3 * static_cast<double>(milliseconds);
  }
  return seconds_;
}

}  // namespace matador::cuda
