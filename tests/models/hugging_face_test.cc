// Every tiny checkpoint, from its folder and from its GGUF file, against what Hugging Face
// transformers says of it (tests/data/models/README.md).
#include <gtest/gtest.h>

#include <cmath>

#include "backends.h"
#include "tiny_model.h"

namespace matador {
namespace {

// Of the logits' spread.
constexpr float kTolerance = 1e-4F;

float largest_difference(const Rows& a, const Rows& b) {
  EXPECT_EQ(a.size(), b.size());
  float largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    EXPECT_EQ(a[i].size(), b[i].size());
    for (size_t j = 0; j < std::min(a[i].size(), b[i].size()); ++j) {
      const float difference = std::abs(a[i][j] - b[i][j]);
      if (!(difference <= largest)) largest = difference;  // a NaN counts
    }
  }
  return largest;
}

using Parameter = std::tuple<std::string, NamedBackend>;

class HuggingFace : public testing::TestWithParam<Parameter> {
 protected:
  HuggingFace()
      : goldens_(read_golden(std::get<0>(GetParam()))),
        model_(std::get<0>(GetParam()), std::get<1>(GetParam()).make()) {}

  std::vector<Golden> goldens_;
  TinyModel model_;
};

TEST_P(HuggingFace, GivesTheSameLogitsAtEveryPosition) {
  for (const Golden& golden : goldens_) {
    const float difference = largest_difference(model_.logits(golden.tokens), golden.logits);
    EXPECT_LE(difference, kTolerance * golden.spread) << golden.tokens.size() << " tokens";
  }
}

TEST_P(HuggingFace, ContinuesGreedilyWithTheSameTokens) {
  for (const Golden& golden : goldens_) {
    EXPECT_EQ(model_.generate(golden.tokens, golden.greedy.size()), golden.greedy)
        << golden.tokens.size() << " tokens";
  }
}

std::vector<std::string> folders_and_gguf_files() {
  std::vector<std::string> paths = tiny_model_names();
  const std::vector<std::string> files = tiny_gguf_names();
  paths.insert(paths.end(), files.begin(), files.end());
  return paths;
}

INSTANTIATE_TEST_SUITE_P(TinyModels, HuggingFace,
                         testing::Combine(testing::ValuesIn(folders_and_gguf_files()),
                                          testing::ValuesIn(test_backends())),
                         [](const testing::TestParamInfo<Parameter>& parameter) {
                           return test_name(std::get<0>(parameter.param) + "_on_" +
                                            std::get<1>(parameter.param).name);
                         });

}  // namespace
}  // namespace matador
