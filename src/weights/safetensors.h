// safetensors: eight bytes of header length, a JSON header naming tensors and their byte ranges,
// then the bytes. Specification: https://huggingface.co/docs/safetensors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "weights/checkpoint.h"

namespace matador {

// The tensors of one file, sorted by name, pointing into `bytes`, which `owner` keeps alive. As
// the specification demands, the ranges must cover the bytes after the header without a gap or an
// overlap. A tensor that is not aligned for its type is copied. Errors name `source`.
Result<std::vector<StoredTensor>> read_safetensors(std::span<const std::byte> bytes,
                                                   const std::string& source,
                                                   const std::shared_ptr<const void>& owner);

}  // namespace matador
