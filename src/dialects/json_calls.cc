#include "dialects/json_calls.h"

#include <optional>
#include <utility>

#include "dialects/json_scanner.h"

namespace matador {
namespace {

class JsonCallReader final : public CallReader {
 public:
  JsonCallReader(JsonCallNames names, const ToolSet& tools) : names_(names), tools_(tools) {}

  State feed(char c, CallOutput& out) override {
    switch (place_) {
      case Place::item: return on_item(c);
      case Place::key: return on_key(c, out);
      case Place::colon: return on_colon(c);
      case Place::value: return on_value(c, out);
      case Place::after_item: return on_after_item(c);
    }
    return State::refused;
  }

 private:
  enum class Place : uint8_t { item, key, colon, value, after_item };

  State on_item(char c) {
    if (is_json_space(c)) return State::more;
    if (c == '[' && !in_list_) {
      in_list_ = true;
      return State::more;
    }
    if (c != '{') return State::refused;
    depth_ = 1;
    name_.reset();
    arguments_.reset();
    place_ = Place::key;
    return State::more;
  }

  State on_key(char c, CallOutput& out) {
    if (scanner_) {
      text_ += c;
      if (scanner_->feed(c) != JsonScanner::State::ended) return State::more;
      scanner_.reset();
      key_ = unquote_json(std::exchange(text_, {}));
      place_ = Place::colon;
      return State::more;
    }
    if (is_json_space(c) || c == ',') return State::more;
    if (c == '}') return end_object(out);
    if (c != '"') return out.in_call() ? end_early(out) : State::refused;
    scan(c);
    return State::more;
  }

  State on_colon(char c) {
    if (is_json_space(c)) return State::more;
    if (c != ':') return State::refused;
    place_ = Place::value;
    return State::more;
  }

  State on_value(char c, CallOutput& out) {
    if (!scanner_) {
      if (is_json_space(c)) return State::more;
      if (key_ == "function" && c == '{') {
        ++depth_;
        place_ = Place::key;
        return State::more;
      }
      streams_ = c == '{' && is_arguments() && name_ && begin(out);
      if (failed_) return State::refused;
      scan(c);
      if (streams_) out.append({&c, 1});
      return State::more;
    }
    const JsonScanner::State state = scanner_->feed(c);
    if (state != JsonScanner::State::ended_before) {
      text_ += c;
      if (streams_) out.append({&c, 1});
    }
    if (state == JsonScanner::State::inside) return State::more;
    scanner_.reset();
    place_ = Place::key;
    keep_value(std::exchange(text_, {}));
    return state == JsonScanner::State::ended_before ? on_key(c, out) : State::more;
  }

  State on_after_item(char c) {
    if (is_json_space(c)) return State::more;
    if (c == ']') return State::done;
    if (c != ',') return State::done_before;
    place_ = Place::item;
    return State::more;
  }

  bool is_arguments() const { return key_ == "arguments" || key_ == "parameters"; }

  void scan(char c) {
    scanner_.emplace();
    scanner_->feed(c);
    text_ = c;
  }

  void keep_value(const std::string& text) {
    const bool is_name = key_ == "name" || key_ == "tool_name" || key_ == "function";
    if (is_name && !name_) {
      name_ = unquote_json(text);
    } else if (is_arguments() && !arguments_) {
      const std::string inner = unquote_json(text);
      arguments_ = is_json(inner) ? inner : text;
      if (arguments_ == "null" || arguments_ == "\"\"") arguments_ = "{}";
    }
  }

  bool begin(CallOutput& out) {
    const bool known = names_ == JsonCallNames::any || find_tool(tools_, *name_) != nullptr;
    failed_ = !known || !is_call_name(*name_);
    if (!failed_) out.begin(*name_);
    return !failed_;
  }

  State end_object(CallOutput& out) {
    if (--depth_ > 0) return State::more;
    if (!out.in_call()) {
      if (!name_ || !begin(out)) return State::refused;
      out.append(arguments_.value_or("{}"));
    }
    out.end();
    place_ = Place::after_item;
    return in_list_ ? State::more : State::done;
  }

  static State end_early(CallOutput& out) {
    out.end();
    return State::done_before;
  }

  JsonCallNames names_;
  const ToolSet& tools_;
  Place place_ = Place::item;
  bool in_list_ = false;
  bool streams_ = false;  // the value being read goes out as it comes
  bool failed_ = false;   // the name is not one
  int depth_ = 0;
  std::optional<JsonScanner> scanner_;  // of the key or value being read, which is in text_
  std::string text_, key_;
  std::optional<std::string> name_, arguments_;
};

class JsonCalls final : public CallSyntax {
 public:
  explicit JsonCalls(JsonCallNames names) : names_(names) {}
  std::unique_ptr<CallReader> reader(const ToolSet& tools) const override {
    return std::make_unique<JsonCallReader>(names_, tools);
  }

 private:
  JsonCallNames names_;
};

}  // namespace

std::shared_ptr<const CallSyntax> json_calls(JsonCallNames names) {
  return std::make_shared<JsonCalls>(names);
}

}  // namespace matador
