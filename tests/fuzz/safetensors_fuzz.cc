#include <cstddef>
#include <cstdint>
#include <vector>

#include "weights/safetensors.h"

// Every tensor that is accepted must be readable to its last byte.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const auto tensors = matador::read_safetensors({bytes, size}, "fuzz", nullptr);
  if (!tensors) return 0;
  for (const matador::StoredTensor& tensor : *tensors) {
    std::vector<float> values(tensor.bytes / static_cast<size_t>(tensor.format->block_bytes));
    tensor.format->decode(tensor.data, values.data(), static_cast<int64_t>(values.size()));
  }
  return 0;
}
