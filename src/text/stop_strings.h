// StopStrings: finds the first of several strings in a text that arrives in pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace matador {

class StopStrings {
 public:
  // `include_in_output`: keep the matched string at the end of the text.
  explicit StopStrings(std::vector<std::string> stops, bool include_in_output = false);

  struct Piece {
    std::string text;      // safe to show now
    bool stopped = false;  // a stop string was found; nothing follows
    std::string matched;   // which one
  };
  // Holds back only what could still become a stop string.
  Piece push(std::string_view text);
  // The end of the text: what was held back.
  std::string finish();

 private:
  std::vector<std::string> stops_;
  bool include_in_output_;
  std::string held_;
};

}  // namespace matador
