#include "dialects/python_literal.h"

#include <array>
#include <charconv>
#include <optional>

#include "dialects/call_reader.h"
#include "dialects/json_scanner.h"

namespace matador {
namespace {

constexpr int kMaxDepth = 64;

void append_code_point(std::string& out, uint32_t c) {
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    tail(12), tail(6), tail(0);
  }
}

// A recursive descent; each function reads one thing and returns nothing where it is not there.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  std::optional<std::string> whole() {
    auto value = read(0);
    skip_spaces();
    return rest_.empty() ? value : std::nullopt;
  }

 private:
  std::optional<std::string> read(int depth) {
    skip_spaces();
    if (rest_.empty() || depth > kMaxDepth) return std::nullopt;
    switch (rest_.front()) {
      case '"':
      case '\'': return read_string();
      case '[': return read_items(depth, ']');
      case '(': return read_items(depth, ')');
      case '{': return read_dict(depth);
      default: return read_word();
    }
  }

  std::optional<std::string> read_word() {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords = {
        {{"True", "true"},
         {"False", "false"},
         {"None", "null"},
         {"true", "true"},
         {"false", "false"},
         {"null", "null"}}};
    const size_t size = std::min(rest_.find_first_of(" \t\r\n,)]}:"), rest_.size());
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    for (auto [python, json] : kWords)
      if (word == python) return std::string(json);
    return is_json(word) ? std::optional<std::string>(word) : std::nullopt;
  }

  std::optional<std::string> read_string() {
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    std::string value;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == quote) return quote_json(value);
      if (c != '\\')
        value += c;
      else
        read_escape(value);
    }
    return std::nullopt;
  }

  void read_escape(std::string& value) {
    if (rest_.empty()) return;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    constexpr std::string_view kLetters = "ntrbfv0\n", kMeanings("\n\t\r\b\f\v\0", 7);
    if (c == '\n') return;  // a line goes on
    if (size_t at = kLetters.find(c); at < kMeanings.size()) {
      value += kMeanings[at];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      read_hex(value, c, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else {
      if (c != '\\' && c != '\'' && c != '"') value += '\\';
      value += c;
    }
  }

  std::optional<uint32_t> take_hex(size_t digits) {
    uint32_t code = 0;
    const std::string_view text = rest_.substr(0, digits);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code, 16);
    if (error != std::errc() || text.size() < digits || end != text.data() + digits)
      return std::nullopt;
    rest_.remove_prefix(digits);
    return code;
  }

  void read_hex(std::string& value, char letter, size_t digits) {
    auto code = take_hex(digits);
    if (!code) {
      value += '\\';
      value += letter;
      return;
    }
    // Two halves of one character, as JSON has them.
    if (*code >= 0xD800 && *code < 0xDC00 && rest_.starts_with("\\u")) {
      rest_.remove_prefix(2);
      auto low = take_hex(4);
      if (low && *low >= 0xDC00 && *low < 0xE000)
        code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    }
    const bool valid = *code < 0x110000 && (*code < 0xD800 || *code >= 0xE000);
    append_code_point(value, valid ? *code : 0xFFFD);
  }

  std::optional<std::string> read_items(int depth, char close) {
    rest_.remove_prefix(1);
    std::string list = "[";
    while (!take(close)) {
      auto item = read(depth + 1);
      if (!item) return std::nullopt;
      list += (list.size() > 1 ? ", " : "") + *item;
      if (!take(',') && !at(close)) return std::nullopt;
    }
    return list + "]";
  }

  std::optional<std::string> read_dict(int depth) {
    rest_.remove_prefix(1);
    std::string dict = "{";
    while (!take('}')) {
      auto key = read(depth + 1);
      if (!key || !take(':')) return std::nullopt;
      auto value = read(depth + 1);
      if (!value) return std::nullopt;
      dict += dict.size() > 1 ? ", " : "";
      dict += (key->front() == '"' ? *key : quote_json(*key)) + ": " + *value;
      if (!take(',') && !at('}')) return std::nullopt;
    }
    return dict + "}";
  }

  void skip_spaces() {
    while (!rest_.empty() && is_json_space(rest_.front())) rest_.remove_prefix(1);
  }
  bool at(char c) {
    skip_spaces();
    return !rest_.empty() && rest_.front() == c;
  }
  bool take(char c) {
    if (!at(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
};

}  // namespace

std::string python_literal_to_json(std::string_view text) {
  return Literal(text).whole().value_or(quote_json(text));
}

}  // namespace matador
