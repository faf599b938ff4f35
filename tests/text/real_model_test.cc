// Vocabularies of real models against llama.cpp's ids. The files are too large to keep here:
// MATADOR_TEST_MODELS names a folder where scripts/get-model.sh has put them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "corpus.h"
#include "engine/gguf_vocab.h"
#include "text/tokenizer.h"

namespace matador {
namespace {

class RealModel : public testing::TestWithParam<std::string> {};

TEST_P(RealModel, EncodesTheCorpusAsLlamaCpp) {
  const char* folder = std::getenv("MATADOR_TEST_MODELS");
  if (!folder) GTEST_SKIP() << "MATADOR_TEST_MODELS is not set";
  std::string path = std::string(folder) + "/" + GetParam() + ".gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  auto file = GgufFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  auto vocab = gguf_vocab(**file);
  ASSERT_TRUE(vocab.ok()) << vocab.error().message;
  auto tokenizer = Tokenizer::from_gguf(*vocab);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  std::vector<Golden> expected = goldens("models/" + GetParam() + ".txt");
  ASSERT_EQ(expected.size(), corpus().size());
  for (size_t i = 0; i < corpus().size(); ++i) {
    auto ids = (*tokenizer)->encode(corpus()[i]);
    ASSERT_TRUE(ids.ok()) << ids.error().message;
    EXPECT_EQ(hash_ids(*ids), expected[i].ids)
        << i << ": " << testing::PrintToString(corpus()[i]) << " became "
        << testing::PrintToString(*ids) << " not " << testing::PrintToString(expected[i].full);
    if (expected[i].plain == "-") continue;
    auto plain = (*tokenizer)->encode(corpus()[i], {false, false});
    ASSERT_TRUE(plain.ok()) << plain.error().message;
    EXPECT_EQ(hash_ids(*plain), expected[i].plain)
        << i << ": plain " << testing::PrintToString(corpus()[i]) << " became "
        << testing::PrintToString(*plain);
  }
}

INSTANTIATE_TEST_SUITE_P(Installed, RealModel, testing::Values("smollm2", "gemma3-270m"));

}  // namespace
}  // namespace matador
