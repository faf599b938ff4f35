// Vocabularies as GGUF holds them against llama.cpp's and Hugging Face's ids
// (tools/make_gguf_goldens.py).
#include <gtest/gtest.h>

#include "corpus.h"
#include "read_vocab.h"
#include "text/tokenizer.h"

namespace matador {
namespace {

// The lines of the corpus that these goldens cover.
std::vector<std::string> chosen() {
  std::vector<std::string> lines;
  for (size_t i = 0; i < corpus().size(); ++i) {
    if (i < 150 || i % 4 == 0) lines.push_back(corpus()[i]);
  }
  return lines;
}

void expect_ids(const Tokenizer& tokenizer, const std::string& golden_path) {
  std::vector<Golden> expected = goldens("gguf/" + golden_path);
  std::vector<std::string> lines = chosen();
  ASSERT_EQ(expected.size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    auto ids = tokenizer.encode(lines[i]);
    ASSERT_TRUE(ids.ok()) << ids.error().message;
    EXPECT_EQ(hash_ids(*ids), expected[i].ids)
        << i << ": " << testing::PrintToString(lines[i]) << " became "
        << testing::PrintToString(*ids) << " not " << testing::PrintToString(expected[i].full);
    if (expected[i].plain == "-") continue;
    auto plain = tokenizer.encode(lines[i], {false, false});
    ASSERT_TRUE(plain.ok()) << plain.error().message;
    EXPECT_EQ(hash_ids(*plain), expected[i].plain)
        << i << ": plain " << testing::PrintToString(lines[i]) << " became "
        << testing::PrintToString(*plain);
  }
}

class PreTokenizer : public testing::TestWithParam<std::string> {};

TEST_P(PreTokenizer, SplitsTheCorpusAsTheReference) {
  GgufVocab vocab = read_vocab("gpt2");
  vocab.pre = GetParam();
  auto tokenizer = Tokenizer::from_gguf(vocab);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  expect_ids(**tokenizer, "gpt2-" + GetParam() + ".txt");
}

INSTANTIATE_TEST_SUITE_P(Kinds, PreTokenizer,
                         testing::Values("default", "gpt-2", "starcoder", "llama-bpe", "dbrx",
                                         "glm4", "jais-2", "minicpm5", "qwen2", "qwen35", "laguna",
                                         "ufakzeka", "seed-coder", "bailingmoe", "exaone-moe",
                                         "gpt-4o", "granite-embed-multi-97m", "tiny_aya", "youtu",
                                         "tekken", "kimi-k2", "superbpe", "deepseek-llm",
                                         "deepseek-coder", "deepseek-v3", "spark2_5", "afmoe",
                                         "falcon", "bloom", "viking", "chameleon"));

class VocabModel : public testing::TestWithParam<std::string> {};

TEST_P(VocabModel, EncodesTheCorpusAsTheReference) {
  auto tokenizer = Tokenizer::from_gguf(read_vocab(GetParam()));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  expect_ids(**tokenizer, GetParam() + ".txt");
}

INSTANTIATE_TEST_SUITE_P(All, VocabModel, testing::Values("llama", "t5", "bert"));

TEST(GgufVocab, NamesTheNearestPreTokenizerForAnUnknownOne) {
  GgufVocab vocab = read_vocab("gpt2");
  vocab.pre = "qwen22";
  auto tokenizer = Tokenizer::from_gguf(vocab);
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.error().code, ErrorCode::unsupported);
  EXPECT_NE(tokenizer.error().message.find("'qwen22'"), std::string::npos);
  EXPECT_NE(tokenizer.error().message.find("'qwen2'"), std::string::npos);
}

}  // namespace
}  // namespace matador
