// Plan: who computes how many tokens in one step. Made by the Scheduler, executed by the Runner,
// committed by the Scheduler; it is open in between.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/sampler.h"
#include "engine/sequence.h"

namespace matador {

struct Plan {
  struct Item {
    Sequence* sequence = nullptr;
    int32_t begin = 0, count = 0;  // positions to compute
    // The last one's token is this one of the previous plan's draws; -1: it is known.
    int32_t last_draw = -1;
    // Logits of the last tokens: rows [first_row, first_row + num_rows) of the step's.
    int32_t first_row = 0;
    int32_t num_rows = 0;
    int32_t num_prompt_logprobs = 0;  // rows that predict a prompt token whose logprob is asked
    int32_t end() const { return begin + count; }
  };
  // A sequence that draws its next token from a row of logits. Choices of one request share the
  // row of their prompt's last token.
  struct Draw {
    Sequence* sequence = nullptr;
    int32_t row = 0;
    int32_t position = 0;  // in the output
  };

  std::vector<BlockCopy> copies;  // in order, before anything is computed
  std::vector<Item> items;
  std::vector<Draw> draws;
  int32_t num_rows = 0;
  int32_t num_tokens = 0;
  bool preempted = false;

  bool empty() const { return items.empty(); }
  // For the next step; keeps the memory.
  void clear() {
    copies.clear();
    items.clear();
    draws.clear();
    num_rows = num_tokens = 0;
    preempted = false;
  }
};

// What the Runner computed for a plan.
struct StepOutput {
  std::vector<Sampled> draws;  // as Plan::draws
  // For each item with num_prompt_logprobs > 0, in order, that many.
  std::vector<TokenLogprobs> prompt_logprobs;
};

}  // namespace matador
