#include <gtest/gtest.h>

#include <random>

#include "core/utf8.h"
#include "corpus.h"
#include "text/tokenizer.h"

namespace matador {
namespace {

using Ids = std::vector<int32_t>;

std::shared_ptr<const Tokenizer> load(const std::string& name) {
  auto tokenizer = Tokenizer::from_folder(test_data("tokenizers/" + name));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  return tokenizer.ok() ? *tokenizer : nullptr;
}

std::string_view without_trailing_replacements(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  while (text.ends_with(kReplacement)) text.remove_suffix(kReplacement.size());
  return text;
}

// Pushes `ids` one by one and checks the contract at each prefix.
void expect_contract(const std::shared_ptr<const Tokenizer>& tokenizer, const Ids& ids, bool skip) {
  IncrementalDecoder decoder(tokenizer, skip);
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    std::string piece = decoder.push(ids[i]);
    ASSERT_TRUE(is_utf8(piece)) << testing::PrintToString(piece);
    text += piece;
    std::string whole = tokenizer->decode(std::span(ids).first(i + 1), skip);
    ASSERT_TRUE(whole.starts_with(text)) << i << ": " << testing::PrintToString(ids);
    ASSERT_GE(text.size(), without_trailing_replacements(whole).size())
        << "held back at " << i << ": " << testing::PrintToString(ids);
  }
  text += decoder.finish();
  ASSERT_EQ(text, tokenizer->decode(ids, skip)) << testing::PrintToString(ids);
}

class IncrementalDecoding : public testing::TestWithParam<std::string> {};

TEST_P(IncrementalDecoding, GivesTheCorpusPieceByPiece) {
  auto tokenizer = load(GetParam());
  ASSERT_TRUE(tokenizer);
  for (size_t i = 0; i < corpus().size(); i += 3) {
    auto ids = tokenizer->encode(corpus()[i]);
    ASSERT_TRUE(ids.ok());
    expect_contract(tokenizer, *ids, i % 2 == 0);
  }
}

TEST_P(IncrementalDecoding, HoldsItsContractOnRandomTokens) {
  auto tokenizer = load(GetParam());
  ASSERT_TRUE(tokenizer);
  std::mt19937 random(7);
  // Low ids are bytes and special tokens: they make invalid sequences.
  for (int32_t range : {300, tokenizer->vocab_size() + 5}) {
    std::uniform_int_distribution<int32_t> any(-1, range);
    for (int round = 0; round < 300; ++round) {
      Ids ids(random() % 24);
      for (int32_t& id : ids) id = any(random);
      expect_contract(tokenizer, ids, round % 2 == 0);
    }
  }
}

TEST_P(IncrementalDecoding, KnowsTheBytesOfEachToken) {
  auto tokenizer = load(GetParam());
  ASSERT_TRUE(tokenizer);
  // After a token that ends a character, a token adds its bytes.
  int32_t before = tokenizer->encode("a", {false, true})->back();
  for (int32_t id = 0; id < tokenizer->vocab_size(); ++id) {
    std::string_view bytes = tokenizer->token_bytes(id);
    if (!is_utf8(bytes)) continue;
    std::string prefix = tokenizer->decode(std::vector{before}, false);
    std::string both = tokenizer->decode(std::vector{before, id}, false);
    if (GetParam() == "word_piece" && both.size() < prefix.size() + bytes.size()) continue;
    EXPECT_EQ(both, prefix + std::string(bytes)) << tokenizer->token_text(id);
  }
}

INSTANTIATE_TEST_SUITE_P(All, IncrementalDecoding,
                         testing::Values("byte_level", "word_piece", "spm_bpe", "spm_unigram",
                                         "unigram"),
                         [](const auto& test) { return test.param; });

int32_t byte_token(const Tokenizer& tokenizer, int byte) {
  char name[7];
  std::snprintf(name, sizeof name, "<0x%02X>", byte);
  return tokenizer.token_id(name);
}

TEST(IncrementalDecoder, GivesACharacterOfByteTokensWhenItIsComplete) {
  auto tokenizer = load("spm_bpe");
  ASSERT_TRUE(tokenizer);
  IncrementalDecoder decoder(tokenizer, false);
  EXPECT_EQ(decoder.push(byte_token(*tokenizer, 0xE4)), "");
  EXPECT_EQ(decoder.push(byte_token(*tokenizer, 0xBD)), "");
  EXPECT_EQ(decoder.push(byte_token(*tokenizer, 0xA0)), "你");
  EXPECT_EQ(decoder.push(byte_token(*tokenizer, 0xFF)), "\uFFFD");
  EXPECT_EQ(decoder.push(byte_token(*tokenizer, 0xE4)), "");
  EXPECT_EQ(decoder.push(byte_token(*tokenizer, 0xBD)), "");
  EXPECT_EQ(decoder.finish(), "\uFFFD\uFFFD");
}

TEST(IncrementalDecoder, ReplacesAnInvalidSequenceOnceAsHuggingFaceDoes) {
  auto tokenizer = load("byte_level");
  ASSERT_TRUE(tokenizer);
  // GPT-2's alphabet: ð is 0xF0, ł is 0x9F.
  int32_t f0 = tokenizer->token_id("ð"), b9f = tokenizer->token_id("Ł");
  int32_t a = tokenizer->token_id("a");
  ASSERT_EQ(tokenizer->token_bytes(f0), "\xF0");
  IncrementalDecoder decoder(tokenizer, false);
  EXPECT_EQ(decoder.push(f0), "");
  EXPECT_EQ(decoder.push(b9f), "");
  EXPECT_EQ(decoder.push(a), "\uFFFDa");
  EXPECT_EQ(decoder.push(b9f), "\uFFFD");
  EXPECT_EQ(decoder.push(f0), "");
  EXPECT_EQ(decoder.finish(), "\uFFFD");
}

TEST(IncrementalDecoder, JoinsTokensOfAVocabularyWithoutADecoderWithSpaces) {
  auto tokenizer = Tokenizer::from_json(
      R"({"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
          "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"}})");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  expect_contract(*tokenizer, {0, 1, 1, 7}, false);
  EXPECT_EQ((*tokenizer)->decode(std::vector{0, 1}, false), "a b");
}

TEST(IncrementalDecoder, FollowsADecoderThatNeedsTheWholeText) {
  auto tokenizer = Tokenizer::from_json(
      R"({"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
          "decoder": {"type": "CTC", "pad_token": "p", "word_delimiter_token": "|",
                      "cleanup": false},
          "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "p": 2}, "unk_token": "a"}})");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  expect_contract(*tokenizer, {0, 0, 2, 1, 1, 2, 1}, false);
  EXPECT_EQ((*tokenizer)->decode(std::vector{0, 0, 2, 1, 1, 2, 1}, false), "abb");
}

TEST(IncrementalDecoder, KeepsWordEndsForTheNextWord) {
  auto tokenizer = Tokenizer::from_json(
      R"({"version": "1.0", "added_tokens": [], "decoder": {"type": "BPEDecoder",
          "suffix": "</w>"}, "model": {"type": "WordLevel",
          "vocab": {"a</w>": 0, "b": 1}, "unk_token": "b"}})");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  IncrementalDecoder decoder(*tokenizer, false);
  EXPECT_EQ(decoder.push(0), "a");
  EXPECT_EQ(decoder.push(1), " b");
  EXPECT_EQ(decoder.push(0), "a");
  EXPECT_EQ(decoder.finish(), "");
}

}  // namespace
}  // namespace matador
