#include "models/registry.h"

#include <algorithm>
#include <list>
#include <numeric>
#include <string>
#include <utility>

namespace matador {
namespace {

// A function's static, so that it exists before the first architecture registers.
std::list<Architecture>& registered() {
  static std::list<Architecture> list;
  return list;
}

// Levenshtein distance.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

Error unknown(std::string_view key, std::string_view found, std::string_view Architecture::*field,
              const std::string& source) {
  constexpr size_t kShown = 3;
  std::vector<const Architecture*> near = architectures();
  std::stable_sort(near.begin(), near.end(), [&](const Architecture* a, const Architecture* b) {
    return distance(found, a->*field) < distance(found, b->*field);
  });
  const auto same = [&](const Architecture* a, const Architecture* b) {
    return a->*field == b->*field;
  };
  near.erase(std::unique(near.begin(), near.end(), same), near.end());
  std::string message =
      source + ": " + std::string(key) + " is \"" + std::string(found.substr(0, 80)) +
      "\", which is not supported; the nearest of " + std::to_string(near.size()) + " known are";
  std::string_view separator = " ";
  for (size_t i = 0; i < near.size() && i < kShown; ++i) {
    message.append(separator).append(near[i]->*field);
    separator = ", ";
  }
  return unsupported(std::move(message));
}

}  // namespace

Register::Register(Architecture architecture) { registered().push_back(std::move(architecture)); }

std::vector<const Architecture*> architectures() {
  std::vector<const Architecture*> sorted;
  for (const Architecture& architecture : registered()) sorted.push_back(&architecture);
  std::sort(sorted.begin(), sorted.end(),
            [](const Architecture* a, const Architecture* b) { return a->name < b->name; });
  return sorted;
}

Result<const Architecture*> find_architecture(const Config& config) {
  const auto names = config.texts("architectures");
  const bool named = names && !names->empty();
  const std::string key = named ? "architectures" : "model_type";
  const std::string found = named ? names->front() : config.text(key).value_or("");
  const auto field = named ? &Architecture::name : &Architecture::model_type;
  for (const Architecture* architecture : architectures()) {
    if (architecture->*field == found) return architecture;
  }
  return unknown(key, found, field, config.source());
}

}  // namespace matador
