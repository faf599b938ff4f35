// Scheduler: requests come in and go; its figures and its integrity.
#include "engine/scheduler.h"

#include <algorithm>
#include <utility>

namespace matador {

namespace {

std::vector<int32_t> stop_tokens_of(const SamplingParams& params, const SchedulerLimits& limits) {
  std::vector<int32_t> stops = params.stop_token_ids;
  if (!params.ignore_eos) {
    stops.insert(stops.end(), limits.eos_token_ids.begin(), limits.eos_token_ids.end());
  }
  return stops;
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
      finish(*sequence, finished_event(FinishReason::aborted));
  }
  forget_finished();
}

void Scheduler::finish_all(FinishReason reason, const std::string& error) {
  for (auto& [id, group] : groups_) {
    for (auto& sequence : group->choices) finish(*sequence, finished_event(reason, error));
  }
  forget_finished();
}

void Scheduler::fail(const Plan& plan, const std::string& error) {
  close(plan);
  for (const Plan::Item& item : plan.items) {
    finish(*item.sequence, finished_event(FinishReason::error, error));
    // Choices that waited for this prompt share its fate.
    for (auto& choice : item.sequence->group.choices) {
      if (!choice->group.prompt_done) finish(*choice, finished_event(FinishReason::error, error));
    }
  }
  forget_finished();
}

// Of a plan that is done with: finished requests may go.
void Scheduler::close(const Plan& plan) {
  for (const Plan::Item& item : plan.items) --item.sequence->group.num_open_plans;
}

void Scheduler::forget_finished() {
  num_finished_ += std::erase_if(finished_, [&](RequestId id) {
    if (groups_.at(id)->num_open_plans > 0) return false;
    groups_.erase(id);
    return true;
  });
}

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
      running += sequence->status == Sequence::Status::running;
      waiting += sequence->status == Sequence::Status::waiting;
      if (sequence->status == Sequence::Status::running) continue;
      if (!sequence->table.blocks.empty()) return wrong("a sequence holds blocks but does not run");
    }
  }
  if (running != running_.size() || waiting != waiting_.size()) return wrong("a queue is wrong");
  if (!std::ranges::is_sorted(running_, SequenceOrder()))
    return wrong("the running are out of order");
  return blocks_.check_integrity(tables);
}

}  // namespace matador
