// Runner: a Plan becomes a Batch, the Batch logits, the logits tokens. It owns the step's input
// arrays, which are reused, so that a steady state allocates nothing here. One thread.
//
// launch and collect are two calls so that the next plan can be launched, in between, on tokens
// that only the device knows.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "engine/device_draws.h"
#include "engine/kv_cache.h"
#include "engine/mask_workers.h"
#include "engine/plan.h"
#include "engine/sampler.h"
#include "models/model.h"

namespace matador {

class Runner {
 public:
  // All must outlive it.
  Runner(const Model& model, Backend& backend, const KvCache& cache);

  // Both throw what the backend throws; the state of the plan's sequences is then unknown. The plan
  // must follow the one launched before, whose results are taken or not.
  void launch(const Plan& plan);
  // The results of the oldest launched plan that was not collected.
  StepOutput collect();

  // Of all steps that have ended: how long the device worked, and how long the host stood still
  // for it.
  double device_seconds() const;
  double blocked_seconds() const { return blocked_seconds_; }

 private:
  void copy_blocks(const Plan& plan);
  Batch prepare(const Plan& plan);
  void add_item(const Plan::Item& item, int32_t table_stride);
  int32_t token_at(const Plan::Item& item, int32_t position) const;
  StepOutput sample(const Plan& plan, std::span<const float> logits);
  void launch_drawing(const Plan& plan, Batch batch);

  const Model& model_;
  Backend& backend_;
  const KvCache& cache_;
  Sampler sampler_;
  MaskWorkers mask_workers_;
  DeviceDraws device_draws_;
  const bool asynchronous_;
  double blocked_seconds_ = 0;
  // Where the host samples.
  std::deque<StepOutput> outputs_;    // not collected
  std::vector<int32_t> last_tokens_;  // that the last plan drew

  std::vector<int32_t> token_ids_, positions_, rope_lengths_, slots_;
  std::vector<int32_t> query_start_, context_lens_, block_tables_, logit_tokens_;
};

}  // namespace matador
