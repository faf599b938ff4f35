// Grammars: the constraints that requests ask for, compiled for a tokenizer's vocabulary and kept
// while they are in use. Any thread may use it.
#pragma once

#include <cstddef>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "engine/constraint.h"
#include "text/grammar.h"

namespace matador {

class Grammars {
 public:
  explicit Grammars(std::shared_ptr<const Tokenizer> tokenizer, size_t capacity = 128);

  // Compiles on the caller's thread, which may take long (text/grammar.h), or finds what was
  // compiled before. Who asks for what another thread is compiling waits for it.
  Result<std::shared_ptr<const Constraint>> constraint(const GrammarSource& source);

 private:
  using Outcome = Result<std::shared_ptr<const Constraint>>;
  struct Entry {
    std::string key;
    std::shared_future<Outcome> outcome;
  };

  Outcome compile(const GrammarSource& source);

  const std::shared_ptr<const Tokenizer> tokenizer_;
  const size_t capacity_;
  std::once_flag first_use_;  // guards compiler_
  Result<std::shared_ptr<const GrammarCompiler>> compiler_ = Error{};

  std::mutex mutex_;          // guards the rest
  std::list<Entry> entries_;  // the last used first
  std::unordered_map<std::string, std::list<Entry>::iterator> positions_;
};

}  // namespace matador
