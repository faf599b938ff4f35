// The list of a checkpoint's tensors: its order, and which of them lie in a file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.h"
#include "core/result.h"
#include "weights/checkpoint.h"

namespace matador {

// Sorts by name; a name that occurs twice is an error about `source`.
Status sort_by_name(std::vector<StoredTensor>& tensors, const std::string& source);
// In a sorted list; null when absent.
const StoredTensor* find_by_name(std::span<const StoredTensor> tensors, std::string_view name);
// Sets `mapped` of the tensors whose bytes lie in `file`.
void mark_mapped(std::span<StoredTensor> tensors, const MappedFile& file);

}  // namespace matador
