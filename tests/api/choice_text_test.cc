#include "api/choice_text.h"

#include <gtest/gtest.h>

#include "support/tiny_served_model.h"

namespace matador {
namespace {

struct Result {
  std::string text;
  bool stopped = false;
  int pushed = 0;
};

Result run(const std::string& bytes, const ChoiceTextOptions& options, int32_t stop_token = -1) {
  ChoiceText text(byte_tokenizer(), options);
  Result result;
  auto take = [&](const ChoiceText::Piece& piece) {
    EXPECT_TRUE(is_valid_utf8(piece.text)) << piece.text;
    result.text += piece.text;
    result.stopped = piece.stopped;
  };
  for (int32_t token : bytes_of(bytes)) {
    ++result.pushed;
    take(text.push(token));
    if (result.stopped) return result;
  }
  if (stop_token >= 0) take(text.push(stop_token));
  take(text.finish(stop_token));
  return result;
}

TEST(ChoiceText, HoldsACharacterUntilItIsWhole) {
  ChoiceText text(byte_tokenizer(), {});
  std::string llama =
      "a\U0001F999"
      "b";
  std::vector<std::string> pieces;
  for (int32_t token : bytes_of(llama)) pieces.push_back(text.push(token).text);
  EXPECT_EQ(pieces, (std::vector<std::string>{"a", "", "", "", "\U0001F999", "b"}));
}

TEST(ChoiceText, FlushesWhatWasHeldForAStopString) {
  EXPECT_EQ(run("once upon", {.stop = {"upon a time"}}).text, "once upon");
}

TEST(ChoiceText, CutsAtAStopStringWhereverItBegins) {
  Result cut = run("once upon a time", {.stop = {"zzz", "pon"}});
  EXPECT_EQ(cut.text, "once u");
  EXPECT_TRUE(cut.stopped);
  EXPECT_EQ(cut.pushed, 9);
  EXPECT_EQ(run("once upon", {.stop = {"pon"}, .include_stop_str_in_output = true}).text,
            "once upon");
}

TEST(ChoiceText, DoesNotStopInTheFirstMinTokens) {
  EXPECT_EQ(run("a.b.c.d", {.stop = {"."}, .min_tokens = 3}).text, "a.b");
}

TEST(ChoiceText, HidesTheStopTokenUnlessAskedForIt) {
  ChoiceTextOptions options{.skip_special_tokens = false, .stop_token_ids = {kTurnEnd}};
  EXPECT_EQ(run("hi", options, kTurnEnd).text, "hi");
  options.include_stop_str_in_output = true;
  EXPECT_EQ(run("hi", options, kTurnEnd).text, "hi<|im_end|>");
}

TEST(ChoiceText, ShowsAStopTokenThatDidNotStop) {
  ChoiceText text(byte_tokenizer(), {.stop_token_ids = {'x'}, .min_tokens = 9});
  EXPECT_EQ(text.push('x').text, "");
  EXPECT_EQ(text.push('y').text, "xy");
}

TEST(ChoiceText, CountsOffsetsInCharacters) {
  ChoiceText text(byte_tokenizer(), {});
  for (int32_t token : bytes_of("é漢")) text.push(token);
  EXPECT_EQ(text.offset(), 2);
}

TEST(Utf8, IsJudgedByRfc3629) {
  for (auto good : {"", "a", "é", "漢", "\U0001F999", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(is_valid_utf8(good)) << good;
  for (auto bad : {"\x80", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE6\xBC", "\xFF"})
    EXPECT_FALSE(is_valid_utf8(bad));
  EXPECT_EQ(replace_invalid_utf8("a\xE6\xBC"), "a\uFFFD\uFFFD");
}

}  // namespace
}  // namespace matador
