// DeviceDraws: the draws of plans for a device that samples by itself, and its results as outputs.
// One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "engine/plan.h"

namespace matador {

class DeviceDraws {
 public:
  explicit DeviceDraws(int32_t vocab_size) : vocab_size_(vocab_size) {}

  // The plan's draws, in order, then one for each prompt token whose logprob is asked. Valid until
  // the next call. The sequences' masks must be prepared.
  Draws prepare(const Plan& plan);
  // The plan that was prepared runs.
  void launched(const Plan& plan);
  // The output of the oldest plan that was launched and not collected.
  StepOutput collect(Backend& backend);

 private:
  // What the results of a plan are turned into.
  struct Shape {
    size_t num_draws = 0;
    std::vector<int32_t> num_top;     // of each draw, as in TokenDraw
    std::vector<std::string> errors;  // of the plan's draws: constraints that failed
  };
  void add_prompt_logprobs(const Plan::Item& item);
  TokenDraw describe(const Plan::Draw& draw);
  int32_t add_mask(const Sequence& sequence);

  int32_t vocab_size_;
  std::vector<TokenDraw> draws_;
  std::vector<LogitEdit> edits_;
  std::vector<uint32_t> masks_;
  std::deque<Shape> launched_;
};

}  // namespace matador
