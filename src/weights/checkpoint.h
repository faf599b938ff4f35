// Checkpoint: a model on disk, whatever its container: named tensors over mapped files, and a
// config with Hugging Face's keys. Opening reads headers only; tensor bytes are mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/result.h"
#include "quant/format.h"

namespace matador {

// A tensor as the file has it. Shape is outermost first, as in safetensors ([out, in]); GGUF's
// reversed order is undone. Validated: bytes == format->bytes(product of shape) and in the file.
struct StoredTensor {
  std::string name;
  const Format* format = nullptr;
  std::vector<int64_t> shape;
  const std::byte* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> owner;  // keeps `data` alive
  // `data` lies in a read-only file mapping, and not in a copy: its pages may be dropped and are
  // read again when they are needed.
  bool mapped = false;
};

// Whose names the tensors have.
enum class NameStyle : uint8_t { huggingface, gguf };

class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  virtual NameStyle name_style() const = 0;
  // config.json, or GGUF metadata under config.json's keys ("model_type", "hidden_size", ...).
  virtual const Config& config() const = 0;
  // generation_config.json; empty where there is none.
  virtual const Config& generation_config() const = 0;
  virtual std::span<const StoredTensor> tensors() const = 0;  // sorted by name
  // Null when absent.
  const StoredTensor* find(std::string_view name) const;
  // The folder or file it was opened from.
  virtual const std::string& path() const = 0;
};

// `path`: a folder with config.json and safetensors, or a .gguf file.
Result<std::unique_ptr<Checkpoint>> open_checkpoint(const std::string& path);

}  // namespace matador
