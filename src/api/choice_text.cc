#include "api/choice_text.h"

#include <algorithm>

namespace matador {
namespace {

// Length of the valid sequence at the start of `bytes`, or 0 (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF).
size_t valid_sequence(std::string_view bytes) {
  auto at = [&](size_t i) { return static_cast<uint8_t>(i < bytes.size() ? bytes[i] : 0); };
  auto continues = [&](size_t i) { return (at(i) & 0xC0) == 0x80; };
  uint8_t a = at(0), b = at(1);
  if (a < 0x80) return 1;
  if (a < 0xC2) return 0;
  if (a < 0xE0) return continues(1) ? 2 : 0;
  if (a < 0xF0) {
    bool bad = (a == 0xE0 && b < 0xA0) || (a == 0xED && b > 0x9F);
    return !bad && continues(1) && continues(2) ? 3 : 0;
  }
  bool bad = a > 0xF4 || (a == 0xF0 && b < 0x90) || (a == 0xF4 && b > 0x8F);
  return !bad && continues(1) && continues(2) && continues(3) ? 4 : 0;
}

}  // namespace

int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

bool is_valid_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t n = valid_sequence(bytes);
    if (n == 0) return false;
    bytes.remove_prefix(n);
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    size_t n = valid_sequence(bytes);
    text += n == 0 ? std::string_view("\uFFFD") : bytes.substr(0, n);
    bytes.remove_prefix(std::max<size_t>(n, 1));
  }
  return text;
}

ChoiceText::ChoiceText(std::shared_ptr<const Tokenizer> tokenizer, const ChoiceTextOptions& options)
    : tokenizer_(std::move(tokenizer)),
      decoder_(tokenizer_, options.skip_special_tokens && options.kept_special_tokens.empty()),
      stops_(options.stop, options.include_stop_str_in_output),
      options_(options) {}

std::string ChoiceText::continue_from(std::span<const int32_t> prompt) {
  std::string text;
  for (int32_t token : prompt)
    if (!skips(token)) text += decoder_.push(token);
  return text;
}

ChoiceText::Piece ChoiceText::push(int32_t token) {
  Piece before;
  if (held_token_ >= 0) before = decode(std::exchange(held_token_, -1));
  if (before.stopped) return before;
  const auto& ends = options_.stop_token_ids;
  if (std::find(ends.begin(), ends.end(), token) != ends.end()) {
    held_token_ = token;
    return before;
  }
  Piece piece = decode(token);
  return {before.text + piece.text, piece.stopped};
}

ChoiceText::Piece ChoiceText::finish(int32_t stop_token) {
  Piece piece;
  bool hidden = held_token_ == stop_token && !options_.include_stop_str_in_output;
  if (held_token_ >= 0 && !hidden) piece = decode(held_token_);
  held_token_ = -1;
  if (piece.stopped) return piece;
  Piece rest = show(decoder_.finish());
  piece.text += rest.text;
  piece.stopped = rest.stopped;
  if (!piece.stopped) piece.text += stops_.finish();
  return piece;
}

ChoiceText::Piece ChoiceText::decode(int32_t token) {
  ++num_tokens_;
  std::string text = skips(token) ? "" : decoder_.push(token);
  offset_ += count_characters(text);
  if (num_tokens_ <= options_.min_tokens) return {std::move(text)};
  return show(text);
}

bool ChoiceText::skips(int32_t token) const {
  const auto& kept = options_.kept_special_tokens;
  return options_.skip_special_tokens && tokenizer_->is_special(token) &&
         !std::binary_search(kept.begin(), kept.end(), token);
}

ChoiceText::Piece ChoiceText::show(const std::string& text) {
  StopStrings::Piece piece = stops_.push(text);
  return {std::move(piece.text), piece.stopped};
}

}  // namespace matador
