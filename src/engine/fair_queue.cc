#include "engine/fair_queue.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace matador {

bool SequenceOrder::operator()(const Sequence* a, const Sequence* b) const {
  auto key = [](const Sequence& s) {
    return std::tuple(s.group.request.priority, s.group.id, s.choice);
  };
  return key(*a) < key(*b);
}

void FairQueue::insert(Sequence& sequence) {
  const Request& request = sequence.group.request;
  auto& level = lines_[request.priority];
  if (!level.contains(request.tenant) && !level.empty()) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [tenant, line] : level) least = std::min(least, counters_[tenant]);
    double& own = counters_[request.tenant];
    own = std::max(own, least);
  }
  size_ += level[request.tenant].insert(&sequence).second ? 1 : 0;
}

bool FairQueue::erase(Sequence& sequence) {
  const Request& request = sequence.group.request;
  auto level = lines_.find(request.priority);
  if (level == lines_.end()) return false;
  auto line = level->second.find(request.tenant);
  if (line == level->second.end() || line->second.erase(&sequence) == 0) return false;
  if (line->second.empty()) level->second.erase(line);
  if (level->second.empty()) lines_.erase(level);
  --size_;
  return true;
}

Sequence& FairQueue::front() const {
  const auto& level = lines_.begin()->second;
  auto had = [this](const std::string& tenant) {
    auto counter = counters_.find(tenant);
    return counter == counters_.end() ? 0 : counter->second;
  };
  auto next = std::ranges::min_element(level, [&](const auto& a, const auto& b) {
    double x = had(a.first), y = had(b.first);
    return x < y || (x == y && SequenceOrder()(*a.second.begin(), *b.second.begin()));
  });
  return **next->second.begin();
}

void FairQueue::charge(const Request& request, int64_t tokens) {
  counters_[request.tenant] += static_cast<double>(tokens) / request.weight;
}

}  // namespace matador
