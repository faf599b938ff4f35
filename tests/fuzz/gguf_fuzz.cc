#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weights/gguf.h"
#include "weights/gguf_config.h"

namespace {

using matador::GgufFile;
using matador::StoredTensor;

void read_metadata(const GgufFile& file) {
  for (const std::string& key : file.keys()) {
    (void)file.integer(key);
    (void)file.number(key);
    (void)file.boolean(key);
    (void)file.text(key);
    (void)file.integers(key);
    (void)file.numbers(key);
    (void)file.booleans(key);
    (void)file.texts(key);
  }
  if (const auto config = matador::gguf_config(file)) (void)config->dump();
  (void)matador::gguf_generation_config(file).dump();
}

// Every tensor that is accepted must be readable to its last byte.
void read_tensors(const GgufFile& file) {
  for (const StoredTensor& tensor : file.tensors()) {
    const matador::Format& format = *tensor.format;
    std::vector<float> block(static_cast<size_t>(format.block_values));
    const auto step = static_cast<size_t>(format.block_bytes);
    for (size_t at = 0; at < tensor.bytes; at += step) {
      format.decode(tensor.data + at, block.data(), format.block_values);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const auto file = GgufFile::parse({bytes, size}, "fuzz", nullptr);
  if (!file) return 0;
  read_metadata(**file);
  read_tensors(**file);
  return 0;
}
