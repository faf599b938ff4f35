// GrammarWriter: the text of a Lark grammar, rule by rule. Internal to this room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialects/call_grammar.h"

namespace matador {

class GrammarWriter {
 public:
  explicit GrammarWriter(std::vector<MarkToken> mark_tokens)
      : mark_tokens_(std::move(mark_tokens)) {}

  // Adds a rule of its own name; gives the name.
  std::string rule(const std::string& body);
  // A rule that is one terminal, and ends as soon as it can.
  std::string lazy_rule(const std::string& regex);
  // A rule that is a JSON value of `schema`.
  std::string json_rule(const std::string& schema) { return rule("%json " + schema); }

  // Exactly this text, in which mark tokens are tokens; "" for no text.
  std::string literal(std::string_view text) const;
  // No mark token is in it.
  bool is_plain(std::string_view text) const;

  std::string finish(const std::string& start) const { return "start: " + start + "\n" + rules_; }

 private:
  std::string next_name();
  const MarkToken* token_at(std::string_view text) const;

  std::vector<MarkToken> mark_tokens_;
  std::string rules_;
  int num_rules_ = 0;
};

// Any text, as a terminal's regular expression without slashes around it.
inline constexpr std::string_view kAnyText = "(.|\\n)*";
// `text` in a regular expression between slashes.
std::string escape_regex(std::string_view text);
// Alternatives, or what there is of one.
std::string any_of(const std::vector<std::string>& alternatives);

}  // namespace matador
