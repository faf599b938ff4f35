// SimulatedDevice: executes plans without a model. The state of a token is a fingerprint of all
// tokens up to it, so that any block that is shared, copied, evicted or reused wrongly shows as a
// wrong fingerprint; the next token is drawn from the last one's.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/plan.h"
#include "engine/random.h"

namespace matador {

constexpr int32_t kSimulatedVocab = 50;

// A model with dynamic rope scaling, in small: lengths beyond 24 have a class of their own.
inline int32_t simulated_length_class(int32_t length) { return length <= 24 ? 0 : length / 8; }

class SimulatedDevice {
 public:
  SimulatedDevice(int32_t num_blocks, int32_t block_size, bool depends_on_length)
      : block_size_(block_size),
        depends_on_length_(depends_on_length),
        slots_(static_cast<size_t>(num_blocks) * block_size, 0) {}

  uint64_t fingerprint(uint64_t before, int32_t token, int32_t rope_length) const {
    int32_t length_class = depends_on_length_ ? simulated_length_class(rope_length) : 0;
    auto mixed = philox(before, static_cast<uint64_t>(token), static_cast<uint64_t>(length_class));
    return (uint64_t{mixed[0]} << 32 | mixed[1]) | 1;
  }

  static int32_t next_token(uint64_t state, uint64_t seed, int32_t choice, int32_t position) {
    return static_cast<int32_t>(
        uniform(state ^ seed, static_cast<uint32_t>(choice), static_cast<uint64_t>(position)) *
        kSimulatedVocab);
  }

  StepOutput run(const Plan& plan) {
    for (BlockCopy copy : plan.copies) {
      for (int32_t i = 0; i < block_size_; ++i) {
        slots_.at(copy.to * block_size_ + i) = slots_.at(copy.from * block_size_ + i);
      }
    }
    for (const Plan::Item& item : plan.items) write(item);
    StepOutput output;
    for (const Plan::Item& item : plan.items) check(item, output);
    last_tokens_.clear();
    for (const Plan::Draw& draw : plan.draws) {
      last_tokens_.push_back(next_token(rows_.at(draw.row), draw.sequence->group.seed,
                                        draw.sequence->choice, draw.position));
      output.draws.push_back({.token = last_tokens_.back()});
    }
    rows_.clear();
    return output;
  }

 private:
  uint64_t& slot(const Sequence& sequence, int32_t position) {
    int32_t block = sequence.table.blocks.at(position / block_size_);
    return slots_.at(block * block_size_ + position % block_size_);
  }

  // Those that are not known yet are the last plan's draws.
  int32_t token_at(const Plan::Item& item, int32_t position) const {
    const std::vector<int32_t>& tokens = item.sequence->tokens;
    if (position < static_cast<int32_t>(tokens.size())) return tokens[position];
    EXPECT_EQ(position, item.end() - 1);
    return last_tokens_.at(item.last_draw);
  }

  void write(const Plan::Item& item) {
    const Sequence& s = *item.sequence;
    for (int32_t p = item.begin; p < item.end(); ++p) {
      uint64_t before = p == 0 ? 0 : slot(s, p - 1);
      slot(s, p) = fingerprint(before, token_at(item, p), s.rope_length(p));
    }
  }

  // After everybody has written: is the whole context what it should be?
  void check(const Plan::Item& item, StepOutput& output) {
    const Sequence& s = *item.sequence;
    int32_t end = item.end();
    uint64_t state = 0;
    for (int32_t p = 0; p < end; ++p) {
      state = fingerprint(state, token_at(item, p), s.rope_length(p));
      ASSERT_EQ(slot(s, p), state) << "position " << p << " of " << s.size();
      if (p >= end - item.num_rows) rows_.push_back(state);
    }
    for (int32_t i = 0; i < item.num_prompt_logprobs; ++i) {
      int32_t predicted = end - item.num_rows + i + 1;
      output.prompt_logprobs.push_back({{s.tokens.at(predicted), 0, predicted}, {}});
    }
  }

  int32_t block_size_;
  bool depends_on_length_;
  std::vector<uint64_t> slots_;
  std::vector<uint64_t> rows_;
  std::vector<int32_t> last_tokens_;
};

}  // namespace matador
