#include "engine/span_budget.h"

namespace matador {

void SpanBudget::observe(int32_t token) {
  const std::vector<int32_t>& mark = open_ ? params_->end : params_->begin;
  if (open_) ++num_inside_;
  if (mark.empty()) return;
  // A mark whose beginning comes again inside it is found late; it is looked for again from there.
  if (token != mark[matched_]) matched_ = 0;
  if (token == mark[matched_]) ++matched_;
  if (matched_ < mark.size()) return;
  matched_ = 0;
  num_inside_ = 0;
  open_ = !open_;
}

std::optional<int32_t> SpanBudget::forced() const {
  if (!open_) return std::nullopt;
  const bool spent = num_inside_ - static_cast<int32_t>(matched_) >= params_->max_tokens;
  return spent ? std::optional(params_->end[matched_]) : std::nullopt;
}

}  // namespace matador
