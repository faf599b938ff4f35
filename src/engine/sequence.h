// Sequence: one choice of a request and how far it has come. Only the Scheduler changes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/block_pool.h"
#include "engine/logits_processor.h"
#include "engine/request.h"
#include "engine/token_mask.h"

namespace matador {

struct SequenceGroup;

// A prompt and a decode differ only in how many tokens are uncomputed: many, or one. A preempted
// sequence has all of them uncomputed again, and nothing else changes.
//
// A step may be planned before the results of the one before it are known. The tokens it draws
// count from then on, though nobody can tell them before the commit.
struct Sequence {
  enum class Status : uint8_t {
    unborn,   // shares the prompt that another choice computes
    waiting,  // for room
    running,  // holds blocks
    finished,
  };

  Sequence(SequenceGroup& owner, int32_t index, LogitsProcessor constraints)
      : group(owner), choice(index), processor(std::move(constraints)) {}

  SequenceGroup& group;
  int32_t choice = 0;
  Status status = Status::unborn;
  std::vector<int32_t> tokens;  // prompt and output, where known; empty while unborn
  int32_t num_unknown = 0;      // tokens after them, which plans draw that are not committed
  int32_t last_draw = -1;       // where in its plan's draws the last of these is
  int32_t computed = 0;         // leading tokens whose state is in the blocks, once the plans ran
  // The first tokens are computed as a prompt of this length: the request's prompt, or all there
  // were when a growing sequence was computed anew.
  int32_t base_length = 0;
  BlockTable table;
  LogitsProcessor processor;
  std::unique_ptr<TokenMask> mask;  // null: anything may come next

  int32_t size() const { return static_cast<int32_t>(tokens.size()) + num_unknown; }
  int32_t uncomputed() const { return size() - computed; }
  // The length that length-dependent rope scalings choose by.
  int32_t rope_length(int32_t position) const { return std::max(base_length, position + 1); }
  const SamplingParams& params() const;
};

// The choices of one request. One of them computes the prompt, then all draw their first token
// from the same logits and go on by themselves.
struct SequenceGroup {
  RequestId id = 0;
  Request request;
  uint64_t seed = 0;
  TimePoint scheduled = {};  // when it was admitted first
  std::vector<std::unique_ptr<Sequence>> choices;
  int32_t num_unfinished = 0;

  bool started = false;         // has been admitted once
  bool prompt_planned = false;  // a plan draws its first tokens
  bool prompt_done = false;     // they are known
  int32_t num_open_plans = 0;   // items of plans that are not committed
  int32_t num_cached_tokens = 0;
  std::vector<TokenLogprobs> prompt_logprobs;  // so far
  // The prompt's blocks, kept for choices that have not been admitted yet.
  BlockTable prompt_table;

  int32_t prompt_size() const { return static_cast<int32_t>(request.prompt.size()); }
  // Prompt tokens that may be skipped because nobody asks for their successors' logprobs.
  int32_t skippable() const {
    bool wanted = request.params.prompt_logprobs && !prompt_done;
    return wanted ? static_cast<int32_t>(prompt_logprobs.size()) : prompt_size();
  }
};

inline const SamplingParams& Sequence::params() const { return group.request.params; }

}  // namespace matador
