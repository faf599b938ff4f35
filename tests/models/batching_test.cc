// How a prompt reaches the model must not show in its logits: in chunks, beside others, or on top
// of blocks that another sequence computed. Bit for bit, as backends/backend.h promises.
#include <gtest/gtest.h>

#include "backends.h"
#include "tiny_model.h"

namespace matador {
namespace {

using Parameter = std::tuple<std::string, NamedBackend>;

class Batching : public testing::TestWithParam<Parameter> {
 protected:
  Batching()
      : goldens_(read_golden(std::get<0>(GetParam()))),
        model_(std::get<0>(GetParam()), std::get<1>(GetParam()).make()),
        prompt_(goldens_.back().tokens),
        alone_(model_.logits(prompt_)) {}

  // A part of the prompt, as one chunk of a step.
  Chunk part(size_t begin, size_t end, const std::vector<int32_t>& blocks) const {
    return {.tokens = {prompt_.begin() + static_cast<ptrdiff_t>(begin),
                       prompt_.begin() + static_cast<ptrdiff_t>(end)},
            .start = static_cast<int32_t>(begin),
            .blocks = blocks,
            .rope_length = static_cast<int32_t>(prompt_.size())};
  }

  Rows alone(size_t begin, size_t end) const {
    return {alone_.begin() + static_cast<ptrdiff_t>(begin),
            alone_.begin() + static_cast<ptrdiff_t>(end)};
  }

  std::vector<Golden> goldens_;
  TinyModel model_;
  std::vector<int32_t> prompt_;
  Rows alone_;
};

TEST_P(Batching, APromptInChunksGivesTheSameLogits) {
  for (size_t size : {1, 5, 16}) {
    const std::vector<int32_t> blocks = model_.new_blocks(prompt_.size());
    for (size_t begin = 0; begin < prompt_.size(); begin += size) {
      const size_t end = std::min(begin + size, prompt_.size());
      EXPECT_EQ(model_.step({part(begin, end, blocks)}), alone(begin, end))
          << "chunks of " << size << ", from " << begin;
    }
  }
}

TEST_P(Batching, APromptBesideOthersGivesTheSameLogits) {
  std::vector<Chunk> others;
  for (const Golden& golden : goldens_) {
    others.push_back({.tokens = golden.tokens, .blocks = model_.new_blocks(golden.tokens.size())});
  }
  const std::vector<int32_t> blocks = model_.new_blocks(prompt_.size());
  // A decode of one token and whole prompts share each step.
  model_.step({others[0], part(0, 20, blocks), others[1]});
  const Rows rows = model_.step({others[2], part(20, prompt_.size(), blocks), others[3]});
  const auto first = static_cast<ptrdiff_t>(others[2].tokens.size());
  const auto count = static_cast<ptrdiff_t>(prompt_.size() - 20);
  EXPECT_EQ(Rows(rows.begin() + first, rows.begin() + first + count), alone(20, prompt_.size()));
}

TEST_P(Batching, RowsThatNobodyWantsChangeNothing) {
  const std::vector<int32_t> blocks = model_.new_blocks(prompt_.size());
  Chunk first = part(0, 20, blocks);
  first.wants_logits = false;
  EXPECT_TRUE(model_.step({first}).empty());
  Chunk other{.tokens = prompt_, .blocks = model_.new_blocks(prompt_.size())};
  other.wants_logits = false;
  EXPECT_EQ(model_.step({other, part(20, prompt_.size(), blocks)}), alone(20, prompt_.size()));
}

TEST_P(Batching, ASharedPrefixGivesTheSameLogits) {
  const size_t shared = 24;
  std::vector<int32_t> blocks = model_.new_blocks(prompt_.size());
  model_.step({part(0, prompt_.size(), blocks)});
  blocks.resize(shared / TinyModel::kBlockSize);
  const std::vector<int32_t> own = model_.new_blocks(prompt_.size() - shared);
  blocks.insert(blocks.end(), own.begin(), own.end());
  EXPECT_EQ(model_.step({part(shared, prompt_.size(), blocks)}), alone(shared, prompt_.size()));
}

INSTANTIATE_TEST_SUITE_P(TinyModels, Batching,
                         testing::Combine(testing::ValuesIn(tiny_model_names()),
                                          testing::ValuesIn(test_backends())),
                         [](const testing::TestParamInfo<Parameter>& parameter) {
                           return test_name(std::get<0>(parameter.param) + "_on_" +
                                            std::get<1>(parameter.param).name);
                         });

}  // namespace
}  // namespace matador
