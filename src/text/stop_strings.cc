#include "text/stop_strings.h"

#include <algorithm>
#include <utility>

namespace matador {

StopStrings::StopStrings(std::vector<std::string> stops, bool include_in_output)
    : stops_(std::move(stops)), include_in_output_(include_in_output) {
  std::erase(stops_, "");  // would match everywhere
}

StopStrings::Piece StopStrings::push(std::string_view text) {
  held_ += text;
  size_t first = std::string::npos;
  const std::string* found = nullptr;
  for (const std::string& stop : stops_) {
    size_t at = held_.find(stop);
    // The match that was complete first counts; of those, the longest.
    if (at == std::string::npos) continue;
    bool earlier = !found || at + stop.size() < first + found->size();
    bool longer = found && at + stop.size() == first + found->size() && at < first;
    if (earlier || longer) {
      first = at;
      found = &stop;
    }
  }
  if (found) {
    size_t end = include_in_output_ ? first + found->size() : first;
    Piece piece = {held_.substr(0, end), true, *found};
    held_.clear();
    return piece;
  }
  size_t held = 0;
  for (const std::string& stop : stops_) {
    for (size_t n = std::min(stop.size() - 1, held_.size()); n > held; --n) {
      if (held_.ends_with(std::string_view(stop).substr(0, n))) held = n;
    }
  }
  Piece piece = {held_.substr(0, held_.size() - held), false, ""};
  held_.erase(0, held_.size() - held);
  return piece;
}

std::string StopStrings::finish() { return std::exchange(held_, {}); }

}  // namespace matador
