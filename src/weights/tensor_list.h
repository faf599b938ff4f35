// The order of a checkpoint's tensors.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "weights/checkpoint.h"

namespace matador {

// Sorts by name; a name that occurs twice is an error about `source`.
Status sort_by_name(std::vector<StoredTensor>& tensors, const std::string& source);

}  // namespace matador
