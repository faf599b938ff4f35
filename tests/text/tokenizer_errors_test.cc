// What is wrong with a file or a text is said by name, never by a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "corpus.h"
#include "text/tokenizer.h"

namespace matador {
namespace {

using testing::HasSubstr;

TEST(TokenizerErrors, SayThatAFolderHasNoTokenizer) {
  auto tokenizer = Tokenizer::from_folder(testing::TempDir() + "/no_such_folder");
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.error().code, ErrorCode::not_found);
  EXPECT_THAT(tokenizer.error().message, HasSubstr("tokenizer.json"));
}

TEST(TokenizerErrors, NameTheFileThatIsBroken) {
  namespace fs = std::filesystem;
  fs::path folder = fs::path(testing::TempDir()) / "matador_broken_tokenizer";
  fs::create_directories(folder);
  std::ofstream(folder / "tokenizer.json") << R"({"version": "1.0", "model": )";
  auto tokenizer = Tokenizer::from_folder(folder);
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(tokenizer.error().message, HasSubstr("tokenizer.json"));
  EXPECT_THAT(tokenizer.error().message, HasSubstr("line 1"));
  fs::remove_all(folder);
}

TEST(TokenizerErrors, ComeFromEveryTruncationOfASentencePieceModel) {
  std::string model = read_file(test_data("tokenizers/spm_bpe/tokenizer.model"));
  ASSERT_TRUE(Tokenizer::from_sentencepiece(model).ok());
  int refused = 0;
  for (size_t size = 0; size < 400; ++size) {
    auto tokenizer = Tokenizer::from_sentencepiece(std::string_view(model).substr(0, size));
    if (tokenizer.ok()) continue;
    EXPECT_EQ(tokenizer.error().code, ErrorCode::invalid_argument) << tokenizer.error().message;
    ++refused;
  }
  EXPECT_GT(refused, 300);
}

TEST(TokenizerErrors, RefuseACharacterMapThatLies) {
  // A trie of four billion bytes, as base64, in five.
  auto tokenizer = Tokenizer::from_json(
      R"({"version": "1.0", "added_tokens": [],
          "normalizer": {"type": "Precompiled", "precompiled_charsmap": "/P///wA="},
          "model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 0.0]]}})");
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_THAT(tokenizer.error().message, HasSubstr("precompiled_charsmap"));
}

TEST(TokenizerErrors, RefuseAnIdThatNoTableCanHold) {
  auto tokenizer = Tokenizer::from_json(
      R"({"version": "1.0", "added_tokens": [],
          "model": {"type": "WordLevel", "vocab": {"a": 4000000000}, "unk_token": "a"}})");
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_THAT(tokenizer.error().message, HasSubstr("4000000000"));
}

TEST(TokenizerErrors, NameTheFieldOfAGgufVocabularyThatIsWrong) {
  GgufVocab vocab;
  vocab.model = "llama";
  auto refusal = [&] {
    auto tokenizer = Tokenizer::from_gguf(vocab);
    return tokenizer.ok() ? std::string("accepted") : tokenizer.error().message;
  };
  EXPECT_THAT(refusal(), HasSubstr("tokenizer.ggml.tokens"));
  vocab.tokens = {"<unk>", "a"};
  vocab.scores = {0};
  EXPECT_THAT(refusal(), HasSubstr("tokenizer.ggml.scores has 1"));
  vocab.scores = {0, 0};
  vocab.types = {2, 9};
  EXPECT_THAT(refusal(), HasSubstr("token_type[1] is 9"));
  vocab.types = {2, 1};
  vocab.eos = 2;
  EXPECT_THAT(refusal(), HasSubstr("eos_token_id is 2"));
  vocab.eos = -1;
  vocab.tokens[1] = "\xFF";
  EXPECT_THAT(refusal(), HasSubstr("tokens[1]: not UTF-8"));
  vocab.tokens[1] = "a";
  vocab.model = "rwkv";
  EXPECT_THAT(refusal(), HasSubstr("'rwkv'"));
  vocab.model = "llama";
  EXPECT_EQ(refusal(), "accepted");
}

TEST(TokenizerErrors, RefuseTextThatIsNotUtf8) {
  auto tokenizer = Tokenizer::from_folder(test_data("tokenizers/byte_level"));
  ASSERT_TRUE(tokenizer.ok());
  auto ids = (*tokenizer)->encode("ab\xFF");
  ASSERT_FALSE(ids.ok());
  EXPECT_THAT(ids.error().message, HasSubstr("byte 2"));
}

TEST(Tokenizer, SkipsIdsThatItDoesNotHave) {
  auto loaded = Tokenizer::from_folder(test_data("tokenizers/byte_level"));
  ASSERT_TRUE(loaded.ok());
  const Tokenizer& tokenizer = **loaded;
  int32_t a = tokenizer.token_id("a");
  EXPECT_EQ(tokenizer.decode(std::vector{-1, a, 1 << 30, a}, false), "aa");
  EXPECT_EQ(tokenizer.token_text(-1), "");
  EXPECT_EQ(tokenizer.token_bytes(tokenizer.vocab_size()), "");
  EXPECT_FALSE(tokenizer.is_special(-1));
  EXPECT_EQ(tokenizer.token_id("no such token"), -1);
  EXPECT_EQ(tokenizer.bos_id(), tokenizer.token_id("<|endoftext|>"));
  ASSERT_EQ(tokenizer.eos_ids().size(), 1u);
  EXPECT_EQ(tokenizer.eos_ids()[0], tokenizer.token_id("<|im_end|>"));
}

}  // namespace
}  // namespace matador
