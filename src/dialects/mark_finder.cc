#include "dialects/mark_finder.h"

#include <algorithm>

namespace matador {

MarkFinder::Step MarkFinder::feed(char c) {
  held_ += c;
  return resolve(false);
}

MarkFinder::Step MarkFinder::finish() { return resolve(true); }

MarkFinder::Step MarkFinder::resolve(bool at_end) {
  Step step;
  while (!held_.empty() && (at_end || !may_grow())) {
    step.mark = longest_match();
    if (step.mark >= 0) {
      step.rest = held_.substr(marks_[static_cast<size_t>(step.mark)].size());
      held_.clear();
      return step;
    }
    step.text += held_.front();
    held_.erase(0, 1);
  }
  return step;
}

bool MarkFinder::may_grow() const {
  return std::any_of(marks_.begin(), marks_.end(), [this](std::string_view mark) {
    return mark.size() > held_.size() && mark.starts_with(held_);
  });
}

int MarkFinder::longest_match() const {
  int best = -1;
  for (size_t i = 0; i < marks_.size(); ++i) {
    const bool longer = best < 0 || marks_[i].size() > marks_[static_cast<size_t>(best)].size();
    if (longer && held_.starts_with(marks_[i])) best = static_cast<int>(i);
  }
  return best;
}

}  // namespace matador
