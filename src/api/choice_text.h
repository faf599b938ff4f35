// ChoiceText: the text of one choice, token by token: decoding, stop strings and the stop token.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "text/stop_strings.h"
#include "text/tokenizer.h"

namespace matador {

struct ChoiceTextOptions {
  bool skip_special_tokens = true;
  std::vector<int32_t> kept_special_tokens = {};  // are not skipped; ascending
  std::vector<std::string> stop = {};
  bool include_stop_str_in_output = false;
  // Tokens that may end the choice: the model's EOS and stop_token_ids. Their text is shown only
  // with include_stop_str_in_output.
  std::vector<int32_t> stop_token_ids = {};
  int32_t min_tokens = 0;  // stop strings in the first ones do not count
};

class ChoiceText {
 public:
  ChoiceText(std::shared_ptr<const Tokenizer> tokenizer, const ChoiceTextOptions& options);

  // The choice goes on from these tokens' text, which is returned whole; tokenizers that treat
  // the start of a text apart must see it. Before the first push.
  std::string continue_from(std::span<const int32_t> prompt);

  struct Piece {
    std::string text;      // to be shown now
    bool stopped = false;  // a stop string was found; nothing follows
  };
  Piece push(int32_t token);
  // The end; `stop_token`: the one that ended it, or -1.
  Piece finish(int32_t stop_token);

  // Characters (code points) decoded so far: where the next token's text begins, counted from
  // the end of what continue_from returned.
  int64_t offset() const { return offset_; }

 private:
  Piece decode(int32_t token);
  Piece show(const std::string& text);

  bool skips(int32_t token) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  IncrementalDecoder decoder_;
  StopStrings stops_;
  ChoiceTextOptions options_;
  int32_t held_token_ = -1;  // may turn out to be what ended the choice
  int32_t num_tokens_ = 0;
  int64_t offset_ = 0;
};

// Code points in UTF-8 text.
int64_t count_characters(std::string_view text);
// `bytes` as text: what is not UTF-8 becomes U+FFFD.
std::string replace_invalid_utf8(std::string_view bytes);
bool is_valid_utf8(std::string_view bytes);

}  // namespace matador
