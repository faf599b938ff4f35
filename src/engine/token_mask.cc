#include "engine/token_mask.h"

#include <utility>

namespace matador {

TokenMask::TokenMask(std::shared_ptr<const Constraint> constraint, std::vector<int32_t> end_tokens,
                     int32_t vocab_size)
    : constraint_(std::move(constraint)),
      end_tokens_(std::move(end_tokens)),
      bits_((static_cast<size_t>(vocab_size) + 31) / 32) {}

void TokenMask::prepare() {
  if (ready_ || !error_.empty()) return;
  if (!state_) state_ = constraint_->start();
  Result<bool> may_end = state_->fill_mask(bits_);
  if (!may_end) {
    error_ = may_end.error().message;
    return;
  }
  if (*may_end) {
    for (int32_t token : end_tokens_) bits_[token / 32] |= 1U << (token % 32);
  }
  ready_ = true;
}

void TokenMask::accept(int32_t token) {
  ready_ = false;
  if (Status status = state_->accept(token); !status.ok()) error_ = status.error().message;
}

bool TokenMask::finished() const { return state_ != nullptr && state_->finished(); }

}  // namespace matador
