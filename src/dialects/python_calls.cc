#include "dialects/python_calls.h"

#include <cctype>
#include <utility>

#include "dialects/argument_types.h"
#include "dialects/json_scanner.h"
#include "dialects/python_literal.h"

namespace matador {
namespace {

class PythonCallReader final : public CallReader {
 public:
  PythonCallReader(PythonCallNames names, const ToolSet& tools) : names_(names), tools_(tools) {}

  State feed(char c, CallOutput& out) override {
    return in_arguments_ ? on_argument(c, out) : on_name(c, out);
  }

 private:
  State on_name(char c, CallOutput& out) {
    if (c == '(') {
      const bool known = names_ == PythonCallNames::any || find_tool(tools_, name_) != nullptr;
      if (!known || !is_call_name(name_)) return State::refused;
      const Tool* tool = find_tool(tools_, name_);
      types_ = ArgumentTypes(tool ? tool->parameters : "");
      out.begin(std::exchange(name_, {}));
      num_arguments_ = 0;
      in_arguments_ = true;
      return State::more;
    }
    if (name_.empty()) {
      if (is_json_space(c) || (c == ',' && num_calls_ > 0)) return State::more;
      if (c == '[' && !in_list_ && num_calls_ == 0) {
        in_list_ = true;
        return State::more;
      }
      if (c == ']' && in_list_ && num_calls_ > 0) return State::done;
      if (!in_list_ && num_calls_ > 0 && std::isalpha(static_cast<unsigned char>(c)) == 0)
        return State::done_before;
    }
    name_ += c;
    return is_call_name(name_) ? State::more : State::refused;
  }

  State on_argument(char c, CallOutput& out) {
    if (quote_ != 0) {
      text_ += c;
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == quote_)
        quote_ = 0;
      return State::more;
    }
    if (depth_ == 0 && (c == ',' || c == ')')) {
      write_argument(out);
      if (c == ')') end_call(out);
      return State::more;
    }
    if (c == '\'' || c == '"') quote_ = c;
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
    text_ += c;
    return State::more;
  }

  void write_argument(CallOutput& out) {
    const std::string text = std::exchange(text_, {});
    std::string_view value = trimmed(text);
    if (value.empty()) return;
    std::string key = take_key(value);
    out.append(num_arguments_ > 0 ? ", " : "{");
    out.append(quote_json(key) + ": " + python_literal_to_json(trimmed(value)));
    ++num_arguments_;
  }

  // Cuts "key=" off `value`; without one the argument goes by its place.
  std::string take_key(std::string_view& value) const {
    const size_t equals = value.find_first_of("=\"'([{");
    if (equals != std::string_view::npos && value[equals] == '=') {
      std::string key(trimmed(value.substr(0, equals)));
      value.remove_prefix(equals + 1);
      return key;
    }
    const auto place = static_cast<size_t>(num_arguments_);
    return place < types_.names().size() ? types_.names()[place] : "arg" + std::to_string(place);
  }

  void end_call(CallOutput& out) {
    out.append(num_arguments_ > 0 ? "}" : "{}");
    out.end();
    ++num_calls_;
    in_arguments_ = false;
  }

  PythonCallNames names_;
  const ToolSet& tools_;
  bool in_list_ = false, in_arguments_ = false;
  int num_calls_ = 0, num_arguments_ = 0, depth_ = 0;
  std::string name_, text_;
  ArgumentTypes types_{""};
  char quote_ = 0;
  bool escaped_ = false;
};

class PythonCalls final : public CallSyntax {
 public:
  explicit PythonCalls(PythonCallNames names) : names_(names) {}
  std::unique_ptr<CallReader> reader(const ToolSet& tools) const override {
    return std::make_unique<PythonCallReader>(names_, tools);
  }

 private:
  PythonCallNames names_;
};

}  // namespace

std::shared_ptr<const CallSyntax> python_calls(PythonCallNames names) {
  return std::make_shared<PythonCalls>(names);
}

}  // namespace matador
