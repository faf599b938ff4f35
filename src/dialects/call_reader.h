// CallReader: reads the calls of one block of a message, character by character, so that how the
// text was cut on its way cannot matter. CallOutput is where it writes them. Not synchronised.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dialects/tool.h"

namespace matador {

class CallOutput {
 public:
  // A call has begun; until then its text may still turn out to be none.
  void begin(std::string name);
  void append(std::string_view arguments);
  void end() { in_call_ = false; }

  bool in_call() const { return in_call_; }
  int32_t num_calls() const { return num_calls_; }
  MessageDelta& delta() { return delta_; }

 private:
  ToolCallDelta& last();

  MessageDelta delta_;
  int32_t num_calls_ = 0;
  bool in_call_ = false;
};

class CallReader {
 public:
  enum class State : uint8_t {
    more,
    done,         // the block ended with this character
    done_before,  // the block ended before this character, which is not part of it
    refused,      // what came since the last call's end is no call
  };
  virtual ~CallReader() = default;
  virtual State feed(char c, CallOutput& out) = 0;
  // The text ended inside the block. Completes what can only be told from the end.
  virtual void finish(CallOutput&) {}
};

// A way of writing calls. Immutable; any thread may use it.
class CallSyntax {
 public:
  virtual ~CallSyntax() = default;
  // `tools` outlives the reader.
  virtual std::unique_ptr<CallReader> reader(const ToolSet& tools) const = 0;
};

// Space, tab, line feed or carriage return.
constexpr bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
// What a function may be called: 1 to 128 of letters, digits, '_', '-', '.', ':' and '/'.
bool is_call_name(std::string_view name);
std::string_view trimmed(std::string_view text);

}  // namespace matador
