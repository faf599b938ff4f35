#include "dialects/json_scanner.h"

#include <array>

#include "core/json.h"

namespace matador {

JsonScanner::State JsonScanner::feed(char c) {
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      if (depth_ == 0) return State::ended;
    }
    return State::inside;
  }
  if (c == '"') {
    in_string_ = begun_ = true;
    return State::inside;
  }
  if (c == '{' || c == '[') {
    ++depth_;
    begun_ = true;
    return State::inside;
  }
  if (c == '}' || c == ']') {
    if (depth_ == 0) return State::ended_before;
    return --depth_ == 0 ? State::ended : State::inside;
  }
  const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
  if (depth_ == 0 && begun_ && (space || c == ',')) return State::ended_before;
  if (!space) begun_ = true;
  return State::inside;
}

std::string unquote_json(std::string_view text) {
  auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_string() ? value.get<std::string>() : "";
}

std::string quote_json(std::string_view text) {
  return dump_json(nlohmann::json(std::string(text)));
}

void append_escaped(std::string& out, char c) {
  constexpr std::array<std::pair<char, char>, 7> kShort = {
      {{'"', '"'}, {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}}};
  for (auto [plain, letter] : kShort) {
    if (c != plain) continue;
    out += '\\';
    out += letter;
    return;
  }
  if (static_cast<unsigned char>(c) >= 0x20) {
    out += c;
    return;
  }
  out += "\\u00";
  out += "0123456789abcdef"[c >> 4];
  out += "0123456789abcdef"[c & 15];
}

bool is_json(std::string_view text) { return nlohmann::json::accept(text); }

}  // namespace matador
