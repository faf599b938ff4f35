#include "core/random_id.h"

#include <random>

namespace matador {

std::string random_id(std::string_view prefix) {
  constexpr int kDigits = 32;
  std::random_device random;
  std::string id(prefix);
  for (int i = 0; i < kDigits; ++i) id += "0123456789abcdef"[random() % 16];
  return id;
}

}  // namespace matador
