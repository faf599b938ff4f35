#include "dialects/grammar_writer.h"

#include <utility>

#include "dialects/json_scanner.h"

namespace matador {

std::string GrammarWriter::next_name() {
  std::string name = "r";
  return name.append(std::to_string(num_rules_++));
}

std::string GrammarWriter::rule(const std::string& body) {
  std::string name = next_name();
  rules_ += name + ": " + body + "\n";
  return name;
}

std::string GrammarWriter::lazy_rule(const std::string& regex) {
  std::string name = next_name();
  rules_ += name + "[lazy]: /" + regex + "/\n";
  return name;
}

const MarkToken* GrammarWriter::token_at(std::string_view text) const {
  const MarkToken* longest = nullptr;
  for (const MarkToken& token : mark_tokens_)
    if (text.starts_with(token.text) && (!longest || token.text.size() > longest->text.size()))
      longest = &token;
  return longest;
}

std::string GrammarWriter::literal(std::string_view text) const {
  std::string parts, plain;
  auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : " ") + part; };
  auto flush = [&] {
    if (!plain.empty()) add(quote_json(std::exchange(plain, {})));
  };
  while (!text.empty()) {
    const MarkToken* token = token_at(text);
    if (!token) {
      plain += text.front();
      text.remove_prefix(1);
      continue;
    }
    flush();
    add(std::string("<[").append(std::to_string(token->id)).append("]>"));
    text.remove_prefix(token->text.size());
  }
  flush();
  return parts;
}

bool GrammarWriter::is_plain(std::string_view text) const {
  for (size_t i = 0; i < text.size(); ++i)
    if (token_at(text.substr(i))) return false;
  return true;
}

std::string escape_regex(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '\n') {
      escaped += "\\n";
      continue;
    }
    if (std::string_view("\\/.*+?()[]{}|^$&~").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string any_of(const std::vector<std::string>& alternatives) {
  std::string all;
  for (const std::string& alternative : alternatives)
    all += (all.empty() ? "" : " | ") + alternative;
  return "(" + all + ")";
}

}  // namespace matador
