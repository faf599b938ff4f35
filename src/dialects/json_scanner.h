// JsonScanner: finds where one JSON value ends in a text that arrives by characters (RFC 8259).
// It follows strings and brackets only; what is inside is not judged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace matador {

class JsonScanner {
 public:
  enum class State : uint8_t {
    inside,
    ended,         // with this character: a string, an array or an object
    ended_before,  // before this character: a number or a literal
  };
  State feed(char c);

 private:
  bool begun_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  int depth_ = 0;
};

// The text of a JSON string as it stands, quotes included; "" if it is none.
std::string unquote_json(std::string_view text);
// `text` as a JSON string, quotes included.
std::string quote_json(std::string_view text);
// As it stands inside a JSON string: escapes `c` where that needs it.
void append_escaped(std::string& out, char c);
// The text is one JSON value.
bool is_json(std::string_view text);

}  // namespace matador
