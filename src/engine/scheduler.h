// Scheduler: all policy and no device. plan() decides who runs, commit() takes the results in;
// nothing else changes a sequence. A second step may be planned before the first is committed: it
// goes on from tokens that are not known yet. One thread.
//
//  - Running sequences come first, in order of priority, then arrival; each is sure of one token,
//    and the earlier take what is left of the budget for their prompts.
//  - When blocks run out, the last one in that order is preempted: it gives back its blocks and
//    waits, with its tokens, to be computed again. So the first always progresses.
//  - Waiting sequences are admitted in order of priority, then as FairQueue says, while the budget,
//    the number of running sequences and the free blocks allow. Nobody overtakes the first that
//    does not fit; but where it has a lower priority value than some that run, they are preempted
//    for it, the last first.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/block_pool.h"
#include "engine/engine.h"
#include "engine/fair_queue.h"
#include "engine/plan.h"
#include "engine/request.h"
#include "engine/sequence.h"

namespace matador {

struct SchedulerLimits {
  int32_t max_model_len = 0;  // tokens of a sequence; the pool must hold one such sequence
  int32_t max_num_seqs = 256;
  int32_t max_num_batched_tokens = 2048;
  int32_t max_prompt_logprob_rows = 64;  // a step; bounds the logits' memory
  int32_t vocab_size = 0;                // of the logits
  std::vector<int32_t> eos_token_ids;
  // Model::length_class where the state depends on the length, else empty. Must not decrease.
  std::function<int32_t(int32_t)> length_class = {};
  bool recomputes_when_class_grows = false;  // as in ModelInfo
  std::function<TimePoint()> clock = std::chrono::steady_clock::now;
};

struct Delivery {
  std::shared_ptr<EventSink> sink;
  Event event;
};

class Scheduler {
 public:
  Scheduler(BlockPool& blocks, SchedulerLimits limits);

  // The request must be valid (engine/validate.h).
  void add(RequestId id, Request request, uint64_t seed);
  void cancel(RequestId id, int32_t choice = -1);
  // Everyone is finished for this reason.
  void finish_all(FinishReason reason, const std::string& error);

  // At most one plan may be open. Where none is, empty only when nobody runs or waits; else also
  // where all depends on its results. The plan is valid until the next but one.
  const Plan& plan();
  // The results of the oldest open plan. Sequences that finished since are skipped.
  void commit(const Plan& plan, StepOutput output);
  // An open plan that could not be executed: its sequences end with an error.
  void fail(const Plan& plan, const std::string& error);

  // What happened since the last call, in order.
  std::vector<Delivery> take_deliveries();

  // Everything but num_waiting's part that the caller has not added yet.
  EngineStats stats() const;
  uint64_t num_started() const { return num_started_; }    // requests that left the queue
  uint64_t num_finished() const { return num_finished_; }  // requests
  Status check_integrity() const;

 private:
  void close(const Plan& plan);
  int64_t make_way();
  bool has_room_for(const Sequence& sequence) const;
  void plan_running();
  void plan_waiting(int64_t max_priority);
  bool can_go_on(const Sequence& sequence) const;
  bool is_full(const Sequence& sequence, int32_t size) const;
  int32_t affordable(const Sequence& sequence, int32_t limit) const;
  void plan_item(Sequence& sequence, int32_t count);
  void plan_draws(Sequence& sequence, int32_t row);
  void plan_draw(Sequence& sequence, int32_t row, int32_t position);
  bool admit(Sequence& sequence);

  void wait(Sequence& sequence);
  void run(Sequence& sequence);
  void preempt(Sequence& sequence);
  bool release_prompts();
  void release_prompt_if_unneeded(SequenceGroup& group);
  void mark_started(SequenceGroup& group);

  void commit_item(const Plan::Item& item);
  void finish_prompt(Sequence& leader);
  void append(Sequence& sequence, Sampled sampled);
  bool must_recompute(const Sequence& sequence) const;
  void recompute(Sequence& sequence);
  void finish(Sequence& sequence, Event event);
  void withdraw(Sequence& sequence);
  void forget_finished();

  void send(const SequenceGroup& group, Event event);
  int32_t length_class_of(const Sequence& sequence) const;
  PrefixKey key_of(const Sequence& sequence, int32_t tokens) const;

  BlockPool& blocks_;
  SchedulerLimits limits_;
  std::map<RequestId, std::unique_ptr<SequenceGroup>> groups_;
  std::vector<Sequence*> running_;  // in order
  FairQueue waiting_;
  std::unordered_set<SequenceGroup*> holding_;  // those with a prompt_table
  std::vector<RequestId> finished_;             // to be forgotten once no open plan has them
  std::array<Plan, 2> plans_;                   // the last and the one before it
  Plan* plan_ = plans_.data();
  std::vector<Delivery> deliveries_;
  EngineStats stats_;
  uint64_t num_started_ = 0, num_finished_ = 0;
};

}  // namespace matador
