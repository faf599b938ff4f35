// Uploader: brings large pieces of the host's memory, such as mapped files, to the device. Several
// threads read at once, each into page-locked memory of its own, so that the disk, the page cache
// and the bus are all kept busy.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace matador::cuda {

class Uploader {
 public:
  explicit Uploader(int device);
  ~Uploader();

  // Returns when all bytes are there. Throws what CUDA refuses.
  void upload(void* to, const void* from, size_t bytes);

 private:
  class Lane;

  std::vector<std::unique_ptr<Lane>> lanes_;  // made when first needed
  int device_;
};

}  // namespace matador::cuda
