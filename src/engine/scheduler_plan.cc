// Scheduler::plan: who computes how many tokens in the next step.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/scheduler.h"

namespace matador {

using State = Sequence::Status;

const Plan& Scheduler::plan() {
  plan_ = plan_ == &plans_[0] ? &plans_[1] : &plans_[0];
  plan_->clear();
  int64_t admissible = make_way();
  plan_running();
  if (!plan_->preempted) plan_waiting(admissible);
  for (const Plan::Item& item : plan_->items) ++item.sequence->group.num_open_plans;
  if (!plan_->empty()) {
    ++stats_.steps;
    stats_.step_tokens.add(plan_->num_tokens);
  }
  return *plan_;
}

// For one that is more urgent than some that run. Returns the highest priority value that may be
// admitted in this step: what was preempted may have results under way, and waits for the next.
int64_t Scheduler::make_way() {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  if (waiting_.empty()) return kAll;
  const Sequence& urgent = waiting_.front();
  int64_t priority = urgent.group.request.priority;
  auto less_urgent = [&] {
    return !running_.empty() && running_.back()->group.request.priority > priority;
  };
  while (less_urgent() && !has_room_for(urgent)) preempt(*running_.back());
  return std::exchange(plan_->preempted, false) ? priority : kAll;
}

// Whether it would be admitted beside those that run; what the prefix cache has of it is left out.
bool Scheduler::has_room_for(const Sequence& sequence) const {
  int64_t tokens = 0;
  for (const Sequence* running : running_) tokens += running->uncomputed();
  return static_cast<int32_t>(running_.size()) < limits_.max_num_seqs &&
         tokens < limits_.max_num_batched_tokens &&
         blocks_.blocks_for(sequence.size()) <= blocks_.num_free();
}

void Scheduler::plan_running() {
  for (size_t i = 0; i < running_.size(); ++i) {
    Sequence& sequence = *running_[i];
    if (!can_go_on(sequence)) continue;
    auto later = static_cast<int32_t>(running_.size() - i) - 1;
    int32_t count = affordable(sequence, limits_.max_num_batched_tokens - later);
    while (!blocks_.reserve(sequence.table, sequence.computed, sequence.computed + count,
                            plan_->copies)) {
      if (release_prompts()) continue;
      bool itself = running_.back() == &sequence;
      preempt(*running_.back());
      if (itself) return;
    }
    plan_item(sequence, count);
  }
}

void Scheduler::plan_waiting(int64_t max_priority) {
  auto room = [&] {
    return static_cast<int32_t>(running_.size()) < limits_.max_num_seqs &&
           plan_->num_tokens < limits_.max_num_batched_tokens;
  };
  auto admissible = [&] { return waiting_.front().group.request.priority <= max_priority; };
  while (!waiting_.empty() && room() && admissible()) {
    // Prompts kept for later choices give way to those that come before them.
    if (!admit(waiting_.front()) && !release_prompts()) return;
  }
}

// Not where its end or its next token depends on one that is not known yet.
bool Scheduler::can_go_on(const Sequence& sequence) const {
  if (sequence.uncomputed() == 0) return false;
  return sequence.num_unknown == 0 ||
         !(is_full(sequence, sequence.size()) || sequence.mask || must_recompute(sequence) ||
           sequence.processor.depends_on_output());
}

// Whether `size` tokens are all it may have.
bool Scheduler::is_full(const Sequence& sequence, int32_t size) const {
  const SequenceGroup& group = sequence.group;
  return size - group.prompt_size() >= group.request.params.max_tokens ||
         size >= limits_.max_model_len;
}

// Tokens that the sequence can compute in this step, when the plan may hold `limit` in all.
int32_t Scheduler::affordable(const Sequence& sequence, int32_t limit) const {
  int32_t count = std::min(sequence.uncomputed(), limit - plan_->num_tokens);
  const SequenceGroup& group = sequence.group;
  int32_t first_wanted = std::max(sequence.computed, group.skippable());
  if (first_wanted < group.prompt_size() - 1) {
    int32_t rows = std::max(1, limits_.max_prompt_logprob_rows - plan_->num_rows);
    count = std::min(count, first_wanted - sequence.computed + rows);
  }
  return count;
}

void Scheduler::plan_item(Sequence& sequence, int32_t count) {
  SequenceGroup& group = sequence.group;
  Plan::Item item{.sequence = &sequence,
                  .begin = sequence.computed,
                  .count = count,
                  .first_row = plan_->num_rows};
  int32_t end = item.end();
  int32_t first_wanted = std::max(sequence.computed, group.skippable());
  item.num_prompt_logprobs = std::max(0, std::min(end, group.prompt_size() - 1) - first_wanted);
  item.num_rows = item.num_prompt_logprobs;
  if (end == sequence.size()) {
    if (sequence.num_unknown > 0) item.last_draw = sequence.last_draw;
    int32_t row = item.first_row + item.num_rows++;
    if (group.request.params.max_tokens > 0) plan_draws(sequence, row);
  }
  plan_->num_rows += item.num_rows;
  plan_->num_tokens += count;
  plan_->items.push_back(item);
  waiting_.charge(group.request, count);
  sequence.computed = end;
}

// The choices of a request draw their first tokens from the same row, the prompt's last.
void Scheduler::plan_draws(Sequence& sequence, int32_t row) {
  SequenceGroup& group = sequence.group;
  if (std::exchange(group.prompt_planned, true)) {
    return plan_draw(sequence, row, sequence.size() - group.prompt_size());
  }
  for (auto& choice : group.choices) {
    if (choice->status != State::finished) plan_draw(*choice, row, 0);
  }
}

void Scheduler::plan_draw(Sequence& sequence, int32_t row, int32_t position) {
  sequence.last_draw = static_cast<int32_t>(plan_->draws.size());
  ++sequence.num_unknown;
  plan_->draws.push_back({&sequence, row, position});
}

bool Scheduler::admit(Sequence& sequence) {
  CHECK(sequence.num_unknown == 0);
  SequenceGroup& group = sequence.group;
  // The last token is computed in any case, for its logits.
  int32_t usable = std::min(sequence.size() - 1, group.skippable());
  PrefixKey key = key_of(sequence, usable);
  BlockPool::Match match = blocks_.match(key);
  bool shares = !group.prompt_table.blocks.empty() && group.prompt_size() >= match.tokens &&
                sequence.base_length == group.prompt_size();
  if (shares) match = {.tokens = group.prompt_size(), .free_blocks = 0};

  bool copies = match.tokens % blocks_.block_size() != 0;
  int32_t needed = blocks_.blocks_for(sequence.size()) - blocks_.blocks_for(match.tokens) +
                   match.free_blocks + (copies ? 1 : 0);
  if (needed > blocks_.num_free()) return false;

  if (shares) {
    blocks_.share(group.prompt_table, match.tokens, sequence.table);
  } else {
    blocks_.adopt(key, match.tokens, sequence.table);
  }
  sequence.computed = match.tokens;
  if (!group.started) {
    mark_started(group);
    group.num_cached_tokens = match.tokens;
    stats_.prefix_queries += static_cast<uint64_t>(group.prompt_size());
    stats_.prefix_hits += static_cast<uint64_t>(match.tokens);
  }
  run(sequence);
  int32_t count = affordable(sequence, limits_.max_num_batched_tokens);
  CHECK(
      blocks_.reserve(sequence.table, sequence.computed, sequence.computed + count, plan_->copies));
  plan_item(sequence, count);
  return true;
}

}  // namespace matador
