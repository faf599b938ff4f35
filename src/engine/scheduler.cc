#include "engine/scheduler.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace matador {

namespace {

using State = Sequence::Status;

std::vector<int32_t> stop_tokens_of(const SamplingParams& params, const SchedulerLimits& limits) {
  std::vector<int32_t> stops = params.stop_token_ids;
  if (!params.ignore_eos) {
    stops.insert(stops.end(), limits.eos_token_ids.begin(), limits.eos_token_ids.end());
  }
  return stops;
}

Event finished(FinishReason reason, std::string error = "") {
  Event event{.kind = Event::Kind::finished};
  event.reason = reason;
  event.error = std::move(error);
  return event;
}

}  // namespace

Scheduler::Scheduler(BlockPool& blocks, SchedulerLimits limits)
    : blocks_(blocks), limits_(std::move(limits)) {
  CHECK(blocks_.num_blocks() >= blocks_.blocks_for(limits_.max_model_len));
  // Every running sequence computes at least one token a step.
  limits_.max_num_seqs = std::min(limits_.max_num_seqs, limits_.max_num_batched_tokens);
}

void Scheduler::add(RequestId id, Request request, uint64_t seed) {
  auto owned = std::make_unique<SequenceGroup>();
  SequenceGroup& group = *owned;
  group.id = id;
  group.request = std::move(request);
  group.seed = seed;
  const Request& wanted = group.request;
  LogitsProcessor processor(wanted.params, wanted.prompt, stop_tokens_of(wanted.params, limits_));
  for (int32_t choice = 0; choice < wanted.n; ++choice) {
    auto sequence = std::make_unique<Sequence>(group, choice, processor);
    if (wanted.constraint) {
      sequence->mask = std::make_unique<TokenMask>(
          wanted.constraint, stop_tokens_of(wanted.params, limits_), limits_.vocab_size);
    }
    group.choices.push_back(std::move(sequence));
  }
  group.num_unfinished = wanted.n;
  groups_.emplace(id, std::move(owned));
  wait(*group.choices[0]);
}

void Scheduler::cancel(RequestId id, int32_t choice) {
  auto found = groups_.find(id);
  if (found == groups_.end()) return;
  for (auto& sequence : found->second->choices) {
    if (choice < 0 || sequence->choice == choice)
      finish(*sequence, finished(FinishReason::aborted));
  }
  forget_finished();
}

void Scheduler::finish_all(FinishReason reason, const std::string& error) {
  for (auto& [id, group] : groups_) {
    for (auto& sequence : group->choices) finish(*sequence, finished(reason, error));
  }
  forget_finished();
}

void Scheduler::fail(const Plan& plan, const std::string& error) {
  close(plan);
  for (const Plan::Item& item : plan.items) {
    finish(*item.sequence, finished(FinishReason::error, error));
    // Choices that waited for this prompt share its fate.
    for (auto& choice : item.sequence->group.choices) {
      if (!choice->group.prompt_done) finish(*choice, finished(FinishReason::error, error));
    }
  }
  forget_finished();
}

// ---- plan

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

// Of a plan that is done with: finished requests may go.
void Scheduler::close(const Plan& plan) {
  for (const Plan::Item& item : plan.items) --item.sequence->group.num_open_plans;
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

// ---- who waits, runs and holds

void Scheduler::wait(Sequence& sequence) {
  SequenceGroup& group = sequence.group;
  if (sequence.tokens.empty()) {
    sequence.tokens = group.request.prompt;
    sequence.base_length = group.prompt_size();
  }
  sequence.status = State::waiting;
  waiting_.insert(sequence);
}

void Scheduler::run(Sequence& sequence) {
  waiting_.erase(sequence);
  sequence.status = State::running;
  running_.insert(std::ranges::upper_bound(running_, &sequence, SequenceOrder()), &sequence);
  release_prompt_if_unneeded(sequence.group);
}

void Scheduler::preempt(Sequence& sequence) {
  CHECK(running_.back() == &sequence);
  running_.pop_back();
  blocks_.release(sequence.table);
  sequence.computed = 0;
  wait(sequence);
  plan_->preempted = true;
  ++stats_.preemptions;
}

// Gives back the prompts kept for choices that are not admitted yet; false if there were none.
bool Scheduler::release_prompts() {
  for (SequenceGroup* group : holding_) blocks_.release(group->prompt_table);
  return std::exchange(holding_, {}).size() > 0;
}

void Scheduler::release_prompt_if_unneeded(SequenceGroup& group) {
  if (!holding_.contains(&group)) return;
  auto waits = [](const auto& choice) { return choice->status == State::waiting; };
  if (std::ranges::any_of(group.choices, waits)) return;
  blocks_.release(group.prompt_table);
  holding_.erase(&group);
}

void Scheduler::mark_started(SequenceGroup& group) {
  if (std::exchange(group.started, true)) return;
  ++num_started_;
  group.scheduled = limits_.clock();
}

// ---- commit

void Scheduler::commit(const Plan& plan, StepOutput output) {
  close(plan);
  auto logprobs = output.prompt_logprobs.begin();
  for (const Plan::Item& item : plan.items) {
    SequenceGroup& group = item.sequence->group;
    for (int32_t i = 0; i < item.num_prompt_logprobs; ++i) {
      group.prompt_logprobs.push_back(std::move(*logprobs++));
    }
    if (item.sequence->status != State::finished) commit_item(item);
  }
  for (size_t i = 0; i < plan.draws.size(); ++i) {
    Sequence& sequence = *plan.draws[i].sequence;
    if (sequence.status != State::finished) append(sequence, std::move(output.draws[i]));
  }
  forget_finished();
}

void Scheduler::commit_item(const Plan::Item& item) {
  Sequence& sequence = *item.sequence;
  // Unless it was preempted since.
  if (sequence.computed >= item.end()) {
    blocks_.publish(sequence.table, key_of(sequence, item.end()), item.end());
  }
  const SequenceGroup& group = sequence.group;
  if (!group.prompt_done && item.end() == group.prompt_size()) finish_prompt(sequence);
}

// The other choices are born: they hold the prompt's tokens, and its blocks are kept for them.
void Scheduler::finish_prompt(Sequence& leader) {
  SequenceGroup& group = leader.group;
  group.prompt_done = true;
  stats_.prompt_tokens += static_cast<uint64_t>(group.prompt_size());
  Event event{.kind = Event::Kind::prompt_done};
  event.num_cached_tokens = group.num_cached_tokens;
  event.queued = group.request.queued;
  event.scheduled = group.scheduled;
  event.prompt_logprobs = std::move(group.prompt_logprobs);
  send(group, std::move(event));
  for (auto& choice : group.choices) {
    if (group.request.params.max_tokens == 0) {
      finish(*choice, finished(FinishReason::length));
    } else if (choice->status == State::unborn) {
      wait(*choice);
      if (leader.status == State::running) holding_.insert(&group);
    }
  }
  if (holding_.contains(&group)) {
    blocks_.share(leader.table, group.prompt_size(), group.prompt_table);
  }
}

void Scheduler::append(Sequence& sequence, Sampled sampled) {
  SequenceGroup& group = sequence.group;
  if (!sampled.error.empty()) return finish(sequence, finished(FinishReason::error, sampled.error));
  --sequence.num_unknown;
  sequence.tokens.push_back(sampled.token);
  sequence.processor.observe(sampled.token);
  ++stats_.generation_tokens;
  Event event{.kind = Event::Kind::token, .choice = sequence.choice, .token = sampled.token};
  event.logprobs = std::move(sampled.logprobs);
  send(group, std::move(event));

  if (sequence.processor.is_stop(sampled.token)) {
    Event stop = finished(FinishReason::stop);
    stop.stop_token = sampled.token;
    return finish(sequence, std::move(stop));
  }
  if (sequence.mask) sequence.mask->accept(sampled.token);
  if (sequence.mask && sequence.mask->finished()) {
    finish(sequence, finished(FinishReason::stop));
  } else if (is_full(sequence, static_cast<int32_t>(sequence.tokens.size()))) {
    finish(sequence, finished(FinishReason::length));
  } else if (sequence.num_unknown == 0 && must_recompute(sequence)) {
    recompute(sequence);
  }
}

// Whether its last token, known or not, takes the sequence into another length class.
bool Scheduler::must_recompute(const Sequence& sequence) const {
  return limits_.recomputes_when_class_grows &&
         limits_.length_class(sequence.size()) != length_class_of(sequence);
}

// The sequence waits to be computed again from its start, as if it had been preempted; its blocks
// stay known under the class before.
void Scheduler::recompute(Sequence& sequence) {
  sequence.base_length = sequence.size();
  if (sequence.status != State::running) return;
  std::erase(running_, &sequence);
  blocks_.release(sequence.table);
  sequence.computed = 0;
  wait(sequence);
}

void Scheduler::finish(Sequence& sequence, Event event) {
  SequenceGroup& group = sequence.group;
  if (sequence.status == State::finished) return;
  withdraw(sequence);
  sequence.status = State::finished;
  release_prompt_if_unneeded(group);
  event.choice = sequence.choice;
  send(group, std::move(event));
  if (--group.num_unfinished > 0) return;
  mark_started(group);
  finished_.push_back(group.id);
}

// Takes a sequence out of the queues. One that computes the prompt for others hands it on.
void Scheduler::withdraw(Sequence& sequence) {
  if (sequence.status == State::unborn) return;
  SequenceGroup& group = sequence.group;
  auto unborn = [](const auto& choice) { return choice->status == State::unborn; };
  auto heir = std::ranges::find_if(group.choices, unborn);
  auto place = std::ranges::find(running_, &sequence);
  if (heir != group.choices.end()) {
    Sequence& next = **heir;
    next.tokens = std::move(sequence.tokens);
    next.computed = sequence.computed;
    next.base_length = sequence.base_length;
    next.table = std::exchange(sequence.table, {});
    next.status = sequence.status;
    for (Plan& plan : plans_) {
      for (Plan::Item& item : plan.items) {
        if (item.sequence == &sequence) item.sequence = &next;
      }
    }
    if (place != running_.end()) *place = &next;
    if (waiting_.erase(sequence)) waiting_.insert(next);
    return;
  }
  blocks_.release(sequence.table);
  if (place != running_.end()) running_.erase(place);
  waiting_.erase(sequence);
}

void Scheduler::forget_finished() {
  num_finished_ += std::erase_if(finished_, [&](RequestId id) {
    if (groups_.at(id)->num_open_plans > 0) return false;
    groups_.erase(id);
    return true;
  });
}

// ---- the rest

void Scheduler::send(const SequenceGroup& group, Event event) {
  event.time = limits_.clock();
  deliveries_.push_back({group.request.sink, std::move(event)});
}

std::vector<Delivery> Scheduler::take_deliveries() { return std::exchange(deliveries_, {}); }

int32_t Scheduler::length_class_of(const Sequence& sequence) const {
  return limits_.length_class ? limits_.length_class(sequence.base_length) : 0;
}

// The class of the base length stands for all tokens: classes grow with the length, so wherever
// two sequences of equal class have equal tokens, one's base and the other's further tokens have
// the same class too.
PrefixKey Scheduler::key_of(const Sequence& sequence, int32_t tokens) const {
  return {std::span(sequence.tokens).first(static_cast<size_t>(tokens)),
          sequence.group.request.cache_salt, length_class_of(sequence)};
}

EngineStats Scheduler::stats() const {
  EngineStats stats = stats_;
  stats.num_running = static_cast<int32_t>(running_.size());
  stats.num_waiting = static_cast<int32_t>(waiting_.size());
  stats.num_blocks = blocks_.num_blocks();
  stats.num_free_blocks = blocks_.num_free();
  stats.kv_cache_usage = 1 - static_cast<double>(blocks_.num_free()) / blocks_.num_blocks();
  return stats;
}

Status Scheduler::check_integrity() const {
  std::vector<const BlockTable*> tables;
  auto wrong = [](const std::string& what) { return Error{ErrorCode::internal, what}; };
  size_t running = 0, waiting = 0;
  for (const auto& [id, group] : groups_) {
    if (!group->prompt_table.blocks.empty()) tables.push_back(&group->prompt_table);
    for (const auto& sequence : group->choices) {
      tables.push_back(&sequence->table);
      running += sequence->status == State::running;
      waiting += sequence->status == State::waiting;
      if (sequence->status == State::running) continue;
      if (!sequence->table.blocks.empty()) return wrong("a sequence holds blocks but does not run");
    }
  }
  if (running != running_.size() || waiting != waiting_.size()) return wrong("a queue is wrong");
  if (!std::ranges::is_sorted(running_, SequenceOrder()))
    return wrong("the running are out of order");
  return blocks_.check_integrity(tables);
}

}  // namespace matador
