// StepGraph: a step's kernels as one CUDA graph, captured the second time its shape is seen.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

namespace matador::cuda {

class StepGraph {
 public:
  StepGraph() = default;
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;
  ~StepGraph();

  bool ready() const { return executable_ != nullptr; }
  // The step has run once and can be captured.
  bool wanted() const { return wanted_; }
  void set_wanted(bool wanted) { wanted_ = wanted; }
  // Records what `work` puts on the stream, without running it.
  void capture(cudaStream_t stream, const std::function<void()>& work);
  void launch(cudaStream_t stream) const;

 private:
  bool wanted_ = false;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace matador::cuda
