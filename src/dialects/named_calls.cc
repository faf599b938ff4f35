#include "dialects/named_calls.h"

#include <utility>

#include "dialects/json_calls.h"
#include "dialects/json_scanner.h"

namespace matador {
namespace {

constexpr size_t kLongestHeader = 512;

class NamedCallReader final : public CallReader {
 public:
  explicit NamedCallReader(NameOfHeader name_of) : name_of_(name_of) {}

  State feed(char c, CallOutput& out) override {
    if (!out.in_call()) {
      if (c != '{') {
        header_ += c;
        return header_.size() > kLongestHeader ? State::refused : State::more;
      }
      std::string name = name_of_(header_);
      if (!is_call_name(name)) return State::refused;
      out.begin(std::move(name));
    }
    out.append({&c, 1});
    if (arguments_.feed(c) == JsonScanner::State::inside) return State::more;
    out.end();
    return State::done;
  }

 private:
  NameOfHeader name_of_;
  std::string header_;
  JsonScanner arguments_;
};

// The first character that is not a space tells a list from a name.
class EitherReader final : public CallReader {
 public:
  EitherReader(NameOfHeader name_of, const ToolSet& tools) : name_of_(name_of), tools_(tools) {}

  State feed(char c, CallOutput& out) override {
    if (!reader_) {
      if (is_json_space(c)) return State::more;
      if (c == '[' || c == '{')
        reader_ = json_calls()->reader(tools_);
      else
        reader_ = std::make_unique<NamedCallReader>(name_of_);
    }
    return reader_->feed(c, out);
  }

 private:
  NameOfHeader name_of_;
  const ToolSet& tools_;
  std::unique_ptr<CallReader> reader_;
};

template <bool kOrJson>
class NamedCalls final : public CallSyntax {
 public:
  explicit NamedCalls(NameOfHeader name_of) : name_of_(name_of) {}
  std::unique_ptr<CallReader> reader(const ToolSet& tools) const override {
    if constexpr (kOrJson) return std::make_unique<EitherReader>(name_of_, tools);
    return std::make_unique<NamedCallReader>(name_of_);
  }

 private:
  NameOfHeader name_of_;
};

}  // namespace

std::shared_ptr<const CallSyntax> named_calls(NameOfHeader name_of) {
  return std::make_shared<NamedCalls<false>>(name_of);
}

std::shared_ptr<const CallSyntax> named_or_json_calls(NameOfHeader name_of) {
  return std::make_shared<NamedCalls<true>>(name_of);
}

std::string text_before(std::string_view text, std::string_view mark) {
  return std::string(trimmed(text.substr(0, text.find(mark))));
}

}  // namespace matador
