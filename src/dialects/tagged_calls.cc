#include "dialects/tagged_calls.h"

#include <optional>
#include <utility>

#include "dialects/argument_types.h"
#include "dialects/json_scanner.h"
#include "dialects/mark_finder.h"

namespace matador {
namespace {

constexpr size_t kLongestName = 256;

class TaggedCallReader final : public CallReader {
 public:
  TaggedCallReader(const TaggedCalls& tags, const ToolSet& tools)
      : tags_(tags),
        tools_(tools),
        between_({tags_.key_begin, tags_.call_end}),
        key_(std::vector<std::string_view>{tags_.key_end}),
        value_(std::vector<std::string_view>{tags_.value_end}) {}

  State feed(char c, CallOutput& out) override {
    switch (place_) {
      case Place::name: return on_name(c, out);
      case Place::between: return on_between(between_.feed(c), out);
      case Place::key: return on_key(key_.feed(c), out);
      case Place::value: on_value(value_.feed(c), out); return State::more;
    }
    return State::refused;
  }

  void finish(CallOutput& out) override {
    if (place_ == Place::between) on_between(between_.finish(), out);
  }

 private:
  enum class Place : uint8_t { name, between, key, value };

  State on_name(char c, CallOutput& out) {
    const bool ends = tags_.name_ends.find(c) != std::string::npos;
    if (!ends || trimmed(text_).empty()) {
      text_ += c;
      return text_.size() > kLongestName || c == '{' ? State::refused : State::more;
    }
    std::string name(trimmed(std::exchange(text_, {})));
    if (!is_call_name(name)) return State::refused;
    const Tool* tool = find_tool(tools_, name);
    types_ = ArgumentTypes(tool ? tool->parameters : "");
    out.begin(std::move(name));
    place_ = Place::between;
    return c == '<' ? on_between(between_.feed(c), out) : State::more;
  }

  State on_between(const MarkFinder::Step& found, CallOutput& out) {
    if (found.mark < 0) return State::more;
    if (found.mark == 0) {
      place_ = Place::key;
      return State::more;
    }
    out.append(num_arguments_ > 0 ? "}" : "{}");
    out.end();
    return State::done;
  }

  State on_key(MarkFinder::Step found, CallOutput& out) {
    text_ += found.text;
    if (found.mark < 0) return State::more;
    const std::string key = std::exchange(text_, {});
    const size_t end = key.find_first_of("\"<");
    out.append(num_arguments_++ > 0 ? ", " : "{");
    out.append(quote_json(trimmed(std::string_view(key).substr(0, end))));
    out.append(": ");
    type_ = types_.of(trimmed(std::string_view(key).substr(0, end)));
    // Some say beside the key what the value is.
    if (key.find("string=\"true\"") != std::string::npos) type_ = ArgumentType::text();
    if (key.find("string=\"false\"") != std::string::npos) type_ = ArgumentType::any();
    if (type_.only_text()) out.append("\"");
    at_value_begin_ = true;
    place_ = Place::value;
    return State::more;
  }

  void on_value(const MarkFinder::Step& found, CallOutput& out) {
    for (char c : found.text) value_char(c, out);
    if (found.mark < 0) return;
    held_line_end_ = false;
    std::string value = std::exchange(text_, {});
    out.append(type_.only_text() ? escaped(value) + "\"" : type_.json_of(value));
    place_ = Place::between;
  }

  // A string goes out as it comes, but for a line break that may be the last.
  void value_char(char c, CallOutput& out) {
    const bool first = std::exchange(at_value_begin_, false);
    if (tags_.trims_lines && c == '\n') {
      if (first) return;
      if (std::exchange(held_line_end_, true)) text_ += c;
    } else {
      if (std::exchange(held_line_end_, false)) text_ += '\n';
      text_ += c;
    }
    if (type_.only_text()) out.append(escaped(std::exchange(text_, {})));
  }

  static std::string escaped(const std::string& text) {
    std::string out;
    for (char c : text) append_escaped(out, c);
    return out;
  }

  const TaggedCalls& tags_;
  const ToolSet& tools_;
  Place place_ = Place::name;
  MarkFinder between_, key_, value_;
  std::string text_;
  ArgumentTypes types_{""};
  ArgumentType type_;
  int num_arguments_ = 0;
  bool at_value_begin_ = false;
  bool held_line_end_ = false;  // the value's last character so far
};

class TaggedSyntax final : public CallSyntax {
 public:
  explicit TaggedSyntax(TaggedCalls tags) : tags_(std::move(tags)) {}
  std::unique_ptr<CallReader> reader(const ToolSet& tools) const override {
    return std::make_unique<TaggedCallReader>(tags_, tools);
  }

 private:
  TaggedCalls tags_;
};

}  // namespace

std::shared_ptr<const CallSyntax> tagged_calls(TaggedCalls tags) {
  return std::make_shared<TaggedSyntax>(std::move(tags));
}

}  // namespace matador
