// SpanBudget: how many tokens a part of the output may have, such as a model's reasoning. Once they
// are spent the sequence that ends the part is forced, token by token. Not synchronised.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace matador {

struct SpanBudgetParams {
  int32_t max_tokens = 0;      // inside the span; the marks do not count
  std::vector<int32_t> begin;  // opens a span wherever it comes; empty: none opens
  std::vector<int32_t> end;    // closes it; not empty
  bool open = false;           // the prompt has opened one
};

class SpanBudget {
 public:
  // `params` must outlive it.
  explicit SpanBudget(const SpanBudgetParams& params) : params_(&params), open_(params.open) {}

  // A token was generated.
  void observe(int32_t token);
  // The token that must come next, if one must.
  std::optional<int32_t> forced() const;

 private:
  const SpanBudgetParams* params_;
  bool open_;
  int32_t num_inside_ = 0;
  size_t matched_ = 0;  // leading tokens of the mark looked for that came last
};

}  // namespace matador
