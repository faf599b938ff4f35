// ControlTokens and Disguise: what keeps a message from forging a turn.
//
// A template's output is tokenised with control tokens read as such: "<|im_end|>" ends a turn. The
// same spelling inside a message must stay text. So, before a template sees the messages, a
// Disguise replaces every such spelling by a marker of private-use characters, and when the
// rendered prompt is tokenised it puts the spelling back where only text is read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "text/tokenizer.h"

namespace matador {

// The spellings of a vocabulary's control tokens. Immutable; any thread may use it.
class ControlTokens {
 public:
  ControlTokens() = default;
  explicit ControlTokens(const Tokenizer& tokenizer);
  explicit ControlTokens(const std::vector<std::string>& spellings);

  struct Match {
    size_t begin = 0, end = 0;
  };
  // The first spelling at or after `from`, the longest where several begin there.
  std::optional<Match> find(std::string_view text, size_t from = 0) const;
  // Bytes at the start of `text` that end a spelling, and at its end that begin one: together
  // with a neighbour's they could make a whole one.
  size_t tail_at_start(std::string_view text) const;
  size_t head_at_end(std::string_view text) const;
  // Some spelling contains it.
  bool part_of_any(std::string_view text) const;

 private:
  std::array<std::vector<std::string>, 256> by_first_byte_;  // longest first
  size_t longest_ = 0;
};

// The hidden spellings of one request.
class Disguise {
 public:
  explicit Disguise(const ControlTokens& tokens) : tokens_(tokens) {}

  // `text` with markers for what could be read as a control token, and for what looks like a
  // marker itself.
  std::string hide(std::string_view text);
  // The ids of a rendered prompt: as the tokenizer gives them, but what was hidden is text.
  Result<std::vector<int32_t>> encode(std::string_view rendered, const Tokenizer& tokenizer,
                                      bool add_special_tokens) const;

  // The rendered prompt in pieces to be tokenised one by one. Cuts are only where a control token
  // is, since a tokenizer cuts there too.
  struct Piece {
    std::string text;
    bool parse_special_tokens = true;
  };
  std::vector<Piece> pieces(std::string_view rendered) const;

 private:
  std::string marker(std::string_view hidden);
  struct Marker {
    size_t begin = 0, end = 0;
    size_t index = 0;
  };
  std::optional<Marker> find_marker(std::string_view text, size_t from) const;

  const ControlTokens& tokens_;
  std::vector<std::string> hidden_;
};

}  // namespace matador
