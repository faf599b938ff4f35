// Matrix products by NVIDIA's cuBLASLt, which is loaded when there is a device: the library is too
// large to travel with a program, and all works without it.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>

#include "backends/cuda/memory.h"
#include "core/tensor.h"
#include "quant/weight.h"

namespace matador::cuda {

struct CublasLtApi;

class CublasLt {
 public:
  // Null where no library of version 12 or 13 is found.
  static std::unique_ptr<CublasLt> open();
  ~CublasLt();

  // y = x W^T without bias: x and W bf16, y bf16 or f32, all 16-byte aligned. The same
  // call gives the same bits.
  void linear(const Tensor& x, const Weight& w, const Tensor& y, cudaStream_t stream);

 private:
  struct Shape {
    int64_t tokens, rows, cols, x_stride, y_stride;
    DType y_dtype;
    auto operator<=>(const Shape&) const = default;
  };
  struct Plan;

  explicit CublasLt(std::unique_ptr<CublasLtApi> api);
  const Plan& plan_for(const Shape& shape);

  std::unique_ptr<CublasLtApi> api_;
  void* handle_ = nullptr;
  DeviceMemory workspace_;
  std::map<Shape, std::unique_ptr<Plan>> plans_;
};

}  // namespace matador::cuda
