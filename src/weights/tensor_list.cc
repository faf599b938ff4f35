#include "weights/tensor_list.h"

#include <algorithm>

#include "core/utf8.h"

namespace matador {

Status sort_by_name(std::vector<StoredTensor>& tensors, const std::string& source) {
  std::sort(tensors.begin(), tensors.end(),
            [](const StoredTensor& a, const StoredTensor& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(
      tensors.begin(), tensors.end(),
      [](const StoredTensor& a, const StoredTensor& b) { return a.name == b.name; });
  if (twice == tensors.end()) return {};
  return invalid_argument(source + ": tensor \"" + printable(twice->name) +
                          "\" appears twice, expected unique names");
}

}  // namespace matador
