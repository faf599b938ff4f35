// MarkFinder: finds marks in a text that arrives by characters, the longest where one begins
// another, and holds back only what may yet be one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace matador {

class MarkFinder {
 public:
  // No mark may be empty. The marks' texts outlive it.
  explicit MarkFinder(std::vector<std::string_view> marks) : marks_(std::move(marks)) {}

  struct Step {
    std::string text = {};  // comes before the mark
    int mark = -1;          // index of the mark that was found, or -1
    std::string rest = {};  // came after the mark; to be fed again
  };
  Step feed(char c);
  // The end of the text.
  Step finish();

 private:
  bool may_grow() const;      // some mark begins with what is held, and is longer
  int longest_match() const;  // index of the longest mark that what is held begins with, or -1
  Step resolve(bool at_end);

  std::vector<std::string_view> marks_;
  std::string held_;
};

}  // namespace matador
