// Grammar: what a text must look like, as masks over a tokenizer's vocabulary (llguidance,
// https://github.com/guidance-ai/llguidance). Immutable; any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"
#include "text/tokenizer.h"

namespace matador {

struct GrammarSource {
  enum class Kind : int32_t {
    // A JSON schema, as JSON: an object or true. Output has at most one space, after "," or ":". A
    // keyword that cannot be enforced is an error.
    json_schema,
    // A regular expression that all of the text matches: the syntax of Rust's regex crate, in which
    // there is no look-around and there are no back-references.
    regex,
    // A JSON array of strings: one of them.
    choice,
    // Lark as llguidance has it, whose rule `start` begins; or GBNF (`root ::= ...`).
    lark_or_gbnf,
    // vLLM's structural tag, as JSON.
    structural_tag,
  };
  Kind kind = Kind::json_schema;
  std::string text;
};

// How far one text has come. One user at a time, of any thread.
class GrammarState {
 public:
  ~GrammarState();
  // Sets bit t % 32 of mask[t / 32] for each token t that may come next and clears the others.
  // Special tokens are never in it unless the grammar names them. True: the text may end here.
  Result<bool> fill_mask(std::span<uint32_t> mask);
  // A token that the mask allowed.
  Status accept(int32_t token);
  // Takes back the last `tokens` that were accepted.
  Status rollback(size_t tokens);
  // Nothing can follow.
  bool finished() const;

 private:
  struct Impl;
  explicit GrammarState(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  friend class Grammar;
};

class Grammar {
 public:
  ~Grammar();
  std::unique_ptr<GrammarState> start() const;

 private:
  struct Impl;
  explicit Grammar(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  friend class GrammarCompiler;
};

// Compiles grammars for one vocabulary; making it reads all of the vocabulary (tenths of a second).
// Immutable; any thread may use it.
class GrammarCompiler {
 public:
  static Result<std::shared_ptr<const GrammarCompiler>> make(const Tokenizer& tokenizer);
  ~GrammarCompiler();
  // Takes milliseconds, for large grammars up to seconds: not for the engine's thread. Size, depth
  // and work are bounded. Errors say what is wrong with the source, but not where it came from.
  Result<std::shared_ptr<const Grammar>> compile(const GrammarSource& source) const;

 private:
  struct Impl;
  explicit GrammarCompiler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace matador
