#include "dialects/call_grammar.h"

#include <utility>

#include "dialects/argument_grammar.h"
#include "dialects/grammar_writer.h"

namespace matador {
namespace {

class Writer {
 public:
  explicit Writer(const CallGrammar& g)
      : g_(g), written_(g.calls->written), grammar_(g.mark_tokens) {}

  Result<std::string> write() {
    if (!g_.forced && !g_.calls->structural.empty()) return std::string();
    std::vector<std::string> calls;
    for (const Tool& tool : *g_.tools) {
      Result<std::string> arguments = add_arguments(tool, written_, grammar_);
      if (!arguments.ok()) return arguments.error();
      calls.push_back(
          grammar_.rule(joined({grammar_.literal(tool.name + std::string(written_.name_end)),
                                *arguments, grammar_.literal(written_.call_end)})));
    }
    call_ = grammar_.rule(any_of(calls));
    return g_.forced ? forced() : automatic();
  }

 private:
  static std::string joined(const std::vector<std::string>& parts) {
    std::string all;
    for (const std::string& part : parts)
      if (!part.empty()) all += (all.empty() ? "" : " ") + part;
    return all;
  }

  static std::string any_text() { return std::string("/").append(kAnyText).append("/"); }

  // Text whose first character, after spaces, is not the one that calls begin with.
  static std::string text_not_from(char first) {
    std::string text = "/[ \\n\\t]*([^ \\n\\t";
    return text.append(escape_regex({&first, 1})).append("](.|\\n)*)?/");
  }

  std::string forced() {
    const std::string first = std::string(written_.begin) + std::string(written_.call_begin);
    const std::string thoughts = reasoning();
    std::string start = grammar_.literal(first) + " " + after_first_name();
    if (!thoughts.empty())
      start = thoughts + (g_.reasoning_open ? " " : "? ") + "/[ \\n]{0,4}/ " +
              grammar_.literal(g_.reasoning->next) + " " + start;
    return grammar_.finish(start);
  }

  // The calls, but for what stands in front of the first one's name.
  std::string after_first_name() {
    std::string more;
    if (g_.parallel)
      more.append("(")
          .append(joined(
              {grammar_.literal(std::string(written_.separator) + std::string(written_.call_begin)),
               call_}))
          .append(")*");
    return joined({call_, more, grammar_.literal(written_.end)});
  }

  std::string automatic() {
    const std::string prefix = std::string(written_.begin) + std::string(written_.call_begin);
    const std::string mark = trigger(prefix);
    const std::string calls =
        joined({grammar_.literal(prefix.substr(mark.size())), after_first_name()});
    std::string start;
    const std::string any = any_text();
    if (mark.empty())
      start = any_of({joined({"/[ \\n\\t]+/?", calls}), text_not_from(prefix.front())});
    else if (grammar_.is_plain(mark))
      start = any_of(
          {joined({grammar_.lazy_rule(std::string(kAnyText) + escape_regex(mark)), calls}), any});
    else
      start = any + " (" + grammar_.literal(mark) + " " + calls + ")?";
    const std::string thoughts = reasoning();
    if (!thoughts.empty()) start = thoughts + (g_.reasoning_open ? " " : "? ") + start;
    return grammar_.finish(start);
  }

  // The mark that calls begin with, after which text must be a call.
  std::string trigger(const std::string& prefix) const {
    std::string_view longest;
    auto consider = [&](std::string_view mark) {
      if (prefix.starts_with(mark) && mark.size() > longest.size()) longest = mark;
    };
    for (const CallFormat::Opening& opening : g_.calls->openings) consider(opening.mark);
    for (std::string_view mark : g_.calls->silent) consider(mark);
    return std::string(longest);
  }

  // A rule for the reasoning in front; "" where the family does not reason.
  std::string reasoning() {
    if (!g_.reasoning) return "";
    const std::string open = g_.reasoning_open ? "" : std::string(g_.reasoning->open);
    const std::string close(g_.reasoning->close);
    if (grammar_.is_plain(open + close))
      return grammar_.lazy_rule(escape_regex(open) + std::string(kAnyText) + escape_regex(close));
    return grammar_.rule(joined({grammar_.literal(open), any_text(), grammar_.literal(close)}));
  }

  const CallGrammar& g_;
  const WrittenCalls& written_;
  GrammarWriter grammar_;
  std::string call_;
};

}  // namespace

Result<std::string> write_call_grammar(const CallGrammar& grammar) {
  return Writer(grammar).write();
}

}  // namespace matador
