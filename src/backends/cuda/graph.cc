#include "backends/cuda/graph.h"

#include "backends/cuda/error.h"

namespace matador::cuda {

StepGraph::~StepGraph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
}

void StepGraph::capture(cudaStream_t stream, const std::function<void()>& work) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture");
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph), "ending a capture");
  const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "instantiating a graph");
}

void StepGraph::launch(cudaStream_t stream) const {
  check(cudaGraphLaunch(executable_, stream), "launching a graph");
}

}  // namespace matador::cuda
