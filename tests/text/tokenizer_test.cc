#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include "corpus.h"

namespace matador {
namespace {

using Shared = std::shared_ptr<const Tokenizer>;

Shared load(const std::string& name) {
  auto tokenizer = Tokenizer::from_folder(test_data("tokenizers/" + name));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  return tokenizer.ok() ? *tokenizer : nullptr;
}

class TokenizerFolder : public testing::TestWithParam<std::string> {};

TEST_P(TokenizerFolder, EncodesTheCorpusAsTransformers) {
  Shared tokenizer = load(GetParam());
  ASSERT_TRUE(tokenizer);
  std::vector<Golden> expected = goldens("tokenizers/" + GetParam() + "/ids.txt");
  ASSERT_GE(corpus().size(), 2000u);
  ASSERT_EQ(expected.size(), corpus().size());
  for (size_t i = 0; i < expected.size(); ++i) {
    auto ids = tokenizer->encode(corpus()[i]);
    ASSERT_TRUE(ids.ok()) << ids.error().message;
    if (!expected[i].full.empty()) {
      EXPECT_EQ(*ids, expected[i].full) << "line " << i;
    }
    EXPECT_EQ(hash_ids(*ids), expected[i].ids)
        << "line " << i << ": " << testing::PrintToString(corpus()[i]) << " became "
        << testing::PrintToString(*ids);
  }
}

TEST_P(TokenizerFolder, DecodesTheCorpusAsTransformers) {
  Shared tokenizer = load(GetParam());
  ASSERT_TRUE(tokenizer);
  std::vector<Golden> expected = goldens("tokenizers/" + GetParam() + "/ids.txt");
  for (size_t i = 0; i < expected.size(); ++i) {
    auto ids = tokenizer->encode(corpus()[i]);
    ASSERT_TRUE(ids.ok()) << ids.error().message;
    std::string text = tokenizer->decode(*ids, false);
    EXPECT_EQ(hash_bytes(text), expected[i].text)
        << "line " << i << ": " << testing::PrintToString(corpus()[i]) << " became "
        << testing::PrintToString(text);
  }
}

TEST_P(TokenizerFolder, EncodesSpellingsOfSpecialTokensAsPlainText) {
  Shared tokenizer = load(GetParam());
  ASSERT_TRUE(tokenizer);
  std::vector<Golden> expected = goldens("tokenizers/" + GetParam() + "/ids.txt");
  EncodeOptions plain = {.add_special_tokens = false, .parse_special_tokens = false};
  for (size_t i = 0; i < expected.size(); ++i) {
    auto ids = tokenizer->encode(corpus()[i], plain);
    ASSERT_TRUE(ids.ok()) << ids.error().message;
    for (int32_t id : *ids) {
      std::string_view token = tokenizer->token_text(id);
      EXPECT_TRUE(!tokenizer->is_special(id) || token == "<unk>" || token == "[UNK]") << token;
    }
    if (expected[i].plain != "-" && GetParam() != "word_piece") {
      EXPECT_EQ(hash_ids(*ids), expected[i].plain)
          << "line " << i << ": " << testing::PrintToString(corpus()[i]) << " became "
          << testing::PrintToString(*ids);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TokenizerFolder,
                         testing::Values("byte_level", "byte_level_completed", "word_piece",
                                         "spm_bpe", "spm_unigram", "unigram"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace matador
