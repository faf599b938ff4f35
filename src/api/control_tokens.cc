#include "api/control_tokens.h"

#include <algorithm>
#include <charconv>

namespace matador {
namespace {

constexpr std::string_view kOpen = "\uE0F0";  // private use, so no template compares with it
constexpr std::string_view kClose = "\uE0F1";

std::vector<std::string> control_spellings(const Tokenizer& tokenizer) {
  std::vector<std::string> spellings;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    if (tokenizer.is_special(id)) spellings.emplace_back(tokenizer.token_text(id));
  return spellings;
}

// Half a marker, written by whoever wrote the message.
size_t find_lookalike(std::string_view text, size_t from) {
  for (size_t i = text.find(kOpen[0], from); i != text.npos; i = text.find(kOpen[0], i + 1))
    if (text.substr(i).starts_with(kOpen) || text.substr(i).starts_with(kClose)) return i;
  return text.npos;
}

}  // namespace

ControlTokens::ControlTokens(const Tokenizer& tokenizer)
    : ControlTokens(control_spellings(tokenizer)) {}

ControlTokens::ControlTokens(const std::vector<std::string>& spellings) {
  for (const std::string& spelling : spellings) {
    if (spelling.empty()) continue;
    by_first_byte_[static_cast<uint8_t>(spelling[0])].push_back(spelling);
    longest_ = std::max(longest_, spelling.size());
  }
  for (auto& bucket : by_first_byte_)
    std::sort(bucket.begin(), bucket.end(),
              [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::optional<ControlTokens::Match> ControlTokens::find(std::string_view text, size_t from) const {
  for (size_t i = from; i < text.size(); ++i)
    for (const std::string& spelling : by_first_byte_[static_cast<uint8_t>(text[i])])
      if (text.substr(i).starts_with(spelling)) return Match{i, i + spelling.size()};
  return std::nullopt;
}

size_t ControlTokens::tail_at_start(std::string_view text) const {
  for (size_t n = std::min(longest_, text.size()); n > 0; --n)
    for (const auto& bucket : by_first_byte_)
      for (const std::string& spelling : bucket)
        if (spelling.size() > n && spelling.ends_with(text.substr(0, n))) return n;
  return 0;
}

size_t ControlTokens::head_at_end(std::string_view text) const {
  for (size_t n = std::min(longest_, text.size()); n > 0; --n) {
    std::string_view end = text.substr(text.size() - n);
    for (const std::string& spelling : by_first_byte_[static_cast<uint8_t>(end[0])])
      if (spelling.size() > n && spelling.starts_with(end)) return n;
  }
  return 0;
}

bool ControlTokens::part_of_any(std::string_view text) const {
  for (const auto& bucket : by_first_byte_)
    for (const std::string& spelling : bucket)
      if (spelling.find(text) != spelling.npos) return true;
  return false;
}

std::string Disguise::marker(std::string_view hidden) {
  auto it = std::find(hidden_.begin(), hidden_.end(), hidden);
  auto index = static_cast<size_t>(it - hidden_.begin());
  if (it == hidden_.end()) hidden_.emplace_back(hidden);
  return std::string(kOpen) + std::to_string(index) + std::string(kClose);
}

std::string Disguise::hide(std::string_view text) {
  size_t start = tokens_.tail_at_start(text);
  size_t end = text.size() - tokens_.head_at_end(text);
  std::string out;
  size_t done = 0;
  auto replace = [&](size_t from, size_t to) {
    out.append(text.substr(done, from - done)).append(marker(text.substr(from, to - from)));
    done = to;
  };
  if (start > 0) replace(0, start);
  auto control = tokens_.find(text, done);
  size_t lookalike = find_lookalike(text, done);
  while (control || lookalike != text.npos) {
    if (!control || lookalike < control->begin) {
      replace(lookalike, lookalike + kOpen.size());
      lookalike = find_lookalike(text, done);
    } else {
      replace(control->begin, control->end);
      control = tokens_.find(text, done);
    }
  }
  if (end >= done && end < text.size()) replace(end, text.size());
  return out.append(text.substr(done));
}

std::optional<Disguise::Marker> Disguise::find_marker(std::string_view text, size_t from) const {
  for (size_t at = text.find(kOpen, from); at != text.npos; at = text.find(kOpen, at + 1)) {
    const char* digits = text.data() + at + kOpen.size();
    size_t index = 0;
    auto [after, error] = std::from_chars(digits, text.data() + text.size(), index);
    auto end = static_cast<size_t>(after - text.data());
    if (error == std::errc() && index < hidden_.size() && text.substr(end).starts_with(kClose))
      return Marker{at, end + kClose.size(), index};
  }
  return std::nullopt;
}

std::vector<Disguise::Piece> Disguise::pieces(std::string_view rendered) const {
  if (hidden_.empty()) return {{std::string(rendered), true}};
  std::vector<Piece> pieces;
  std::string parsed;       // read with control tokens
  std::string text;         // since the last control token
  bool has_hidden = false;  // in `text`
  auto end_text = [&] {
    if (!has_hidden) {
      parsed += text;
    } else {
      if (!parsed.empty()) pieces.push_back({std::move(parsed), true});
      pieces.push_back({std::move(text), false});
      parsed.clear();
    }
    text.clear();
    has_hidden = false;
  };
  auto marker = find_marker(rendered, 0);
  auto control = tokens_.find(rendered, 0);
  size_t at = 0;
  while (marker || control) {
    if (marker && (!control || marker->begin < control->begin)) {
      text.append(rendered.substr(at, marker->begin - at)).append(hidden_[marker->index]);
      has_hidden = true;
      at = marker->end;
      marker = find_marker(rendered, at);
    } else {
      text.append(rendered.substr(at, control->begin - at));
      end_text();
      parsed.append(rendered.substr(control->begin, control->end - control->begin));
      at = control->end;
      control = tokens_.find(rendered, at);
    }
  }
  text.append(rendered.substr(at));
  end_text();
  if (!parsed.empty()) pieces.push_back({std::move(parsed), true});
  return pieces;
}

Result<std::vector<int32_t>> Disguise::encode(std::string_view rendered, const Tokenizer& tokenizer,
                                              bool add_special_tokens) const {
  std::vector<Piece> parts = pieces(rendered);
  if (parts.size() == 1)
    return tokenizer.encode(parts[0].text, {.add_special_tokens = add_special_tokens,
                                            .parse_special_tokens = parts[0].parse_special_tokens});
  std::vector<int32_t> ids;
  if (add_special_tokens) {  // what is added in front; nothing may be added between the pieces
    auto added = tokenizer.encode("", {.add_special_tokens = true});
    if (!added.ok()) return added;
    if (!added->empty() && added->front() == tokenizer.bos_id()) ids.push_back(added->front());
  }
  for (const Piece& part : parts) {
    auto some = tokenizer.encode(part.text, {.add_special_tokens = false,
                                             .parse_special_tokens = part.parse_special_tokens});
    if (!some.ok()) return some;
    ids.insert(ids.end(), some->begin(), some->end());
  }
  return ids;
}

}  // namespace matador
