// Scheduler: who waits, runs and holds blocks, and how a sequence ends.
#include <algorithm>
#include <utility>

#include "engine/scheduler.h"

namespace matador {

using State = Sequence::Status;

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
  return !std::exchange(holding_, {}).empty();
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

}  // namespace matador
