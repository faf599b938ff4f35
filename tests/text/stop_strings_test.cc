#include "text/stop_strings.h"

#include <gtest/gtest.h>

#include <random>

namespace matador {
namespace {

TEST(StopStrings, FindAStringThatCrossesPieces) {
  StopStrings stops({"<end>"});
  EXPECT_EQ(stops.push("one <e").text, "one ");
  StopStrings::Piece piece = stops.push("nd> two");
  EXPECT_TRUE(piece.stopped);
  EXPECT_EQ(piece.text, "");
  EXPECT_EQ(piece.matched, "<end>");
}

TEST(StopStrings, HoldBackOnlyWhatMayBecomeAStop) {
  StopStrings stops({"\n\n", "###"});
  EXPECT_EQ(stops.push("a\n").text, "a");
  EXPECT_EQ(stops.push("b##").text, "\nb");
  EXPECT_EQ(stops.push("c").text, "##c");
  EXPECT_EQ(stops.push("#").text, "");
  EXPECT_EQ(stops.finish(), "#");
  EXPECT_EQ(stops.finish(), "");
}

TEST(StopStrings, KeepTheMatchWhenAskedTo) {
  StopStrings stops({"stop"}, true);
  StopStrings::Piece piece = stops.push("now stop here");
  EXPECT_EQ(piece.text, "now stop");
  EXPECT_TRUE(piece.stopped);
}

TEST(StopStrings, PreferTheStringThatIsCompleteFirst) {
  StopStrings stops({"abcd", "bc"});
  EXPECT_EQ(stops.push("ab").text, "");
  StopStrings::Piece piece = stops.push("cd");
  EXPECT_EQ(piece.matched, "bc");
  EXPECT_EQ(piece.text, "a");
}

TEST(StopStrings, PreferTheLongerOfTwoThatEndTogether) {
  StopStrings stops({"b", "ab"});
  StopStrings::Piece piece = stops.push("xab");
  EXPECT_EQ(piece.matched, "ab");
  EXPECT_EQ(piece.text, "x");
}

TEST(StopStrings, IgnoreAnEmptyString) {
  StopStrings stops({""});
  EXPECT_EQ(stops.push("text").text, "text");
}

// What a search at every byte finds.
struct Found {
  std::string text;
  std::string matched;
};

Found search(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    std::string_view seen = std::string_view(text).substr(0, end);
    std::string longest;
    for (const std::string& stop : stops) {
      if (seen.ends_with(stop) && stop.size() > longest.size()) longest = stop;
    }
    if (!longest.empty()) return {text.substr(0, end - longest.size()), longest};
  }
  return {text, ""};
}

TEST(StopStrings, FindTheSameHoweverTheTextIsCut) {
  std::mt19937 random(3);
  auto word = [&](size_t longest) {
    std::string text(1 + random() % longest, ' ');
    for (char& c : text) c = "ab"[random() % 2];
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> wanted = {word(4), word(5), word(7)};
    std::string text = word(24);
    StopStrings stops(wanted);
    std::string shown;
    StopStrings::Piece piece;
    for (size_t at = 0; at < text.size() && !piece.stopped;) {
      size_t size = 1 + random() % 5;
      piece = stops.push(std::string_view(text).substr(at, size));
      shown += piece.text;
      at += size;
    }
    if (!piece.stopped) shown += stops.finish();
    Found expected = search(text, wanted);
    ASSERT_EQ(shown, expected.text) << text;
    ASSERT_EQ(piece.matched, expected.matched) << text;
  }
}

}  // namespace
}  // namespace matador
