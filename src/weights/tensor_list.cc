#include "weights/tensor_list.h"

#include <algorithm>
#include <functional>

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

const StoredTensor* find_by_name(std::span<const StoredTensor> tensors, std::string_view name) {
  const auto found = std::lower_bound(
      tensors.begin(), tensors.end(), name,
      [](const StoredTensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return found == tensors.end() || found->name != name ? nullptr : &*found;
}

void mark_mapped(std::span<StoredTensor> tensors, const MappedFile& file) {
  const std::less_equal<> not_after;  // orders pointers to unrelated memory too
  const std::byte* begin = file.bytes().data();
  const std::byte* end = begin + file.bytes().size();
  for (StoredTensor& tensor : tensors) {
    tensor.mapped = not_after(begin, tensor.data) && not_after(tensor.data + tensor.bytes, end);
  }
}

}  // namespace matador
