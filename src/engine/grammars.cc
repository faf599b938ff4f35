#include "engine/grammars.h"

#include <optional>
#include <utility>

namespace matador {

namespace {

class GrammarConstraintState final : public ConstraintState {
 public:
  explicit GrammarConstraintState(std::unique_ptr<GrammarState> state) : state_(std::move(state)) {}

  Result<bool> fill_mask(std::span<uint32_t> mask) override { return state_->fill_mask(mask); }
  Status accept(int32_t token) override { return state_->accept(token); }
  bool finished() const override { return state_->finished(); }

 private:
  std::unique_ptr<GrammarState> state_;
};

class GrammarConstraint final : public Constraint {
 public:
  explicit GrammarConstraint(std::shared_ptr<const Grammar> grammar)
      : grammar_(std::move(grammar)) {}

  std::unique_ptr<ConstraintState> start() const override {
    return std::make_unique<GrammarConstraintState>(grammar_->start());
  }

 private:
  std::shared_ptr<const Grammar> grammar_;
};

std::string key_of(const GrammarSource& source) {
  return std::to_string(static_cast<int32_t>(source.kind)) + ":" + source.text;
}

}  // namespace

Grammars::Grammars(std::shared_ptr<const Tokenizer> tokenizer, size_t capacity)
    : tokenizer_(std::move(tokenizer)), capacity_(capacity) {}

Result<std::shared_ptr<const Constraint>> Grammars::constraint(const GrammarSource& source) {
  std::promise<Outcome> promise;
  std::shared_future<Outcome> outcome;
  {
    std::lock_guard lock(mutex_);
    std::string key = key_of(source);
    auto found = positions_.find(key);
    if (found != positions_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      outcome = found->second->outcome;
    } else {
      entries_.push_front({key, promise.get_future().share()});
      positions_.emplace(std::move(key), entries_.begin());
      if (entries_.size() > capacity_) {
        positions_.erase(entries_.back().key);
        entries_.pop_back();
      }
    }
  }
  if (outcome.valid()) return outcome.get();
  Outcome compiled = compile(source);
  promise.set_value(compiled);
  return compiled;
}

Result<std::shared_ptr<const Constraint>> Grammars::compile(const GrammarSource& source) {
  std::call_once(first_use_, [&] { compiler_ = GrammarCompiler::make(*tokenizer_); });
  if (!compiler_) return compiler_.error();
  auto grammar = (*compiler_)->compile(source);
  if (!grammar) return grammar.error();
  return std::shared_ptr<const Constraint>(std::make_shared<GrammarConstraint>(*grammar));
}

}  // namespace matador
