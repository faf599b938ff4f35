// Scheduler::commit: what a step computed, taken in.
#include <utility>

#include "engine/scheduler.h"

namespace matador {

using State = Sequence::Status;

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
      finish(*choice, finished_event(FinishReason::length));
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
  if (!sampled.error.empty())
    return finish(sequence, finished_event(FinishReason::error, sampled.error));
  --sequence.num_unknown;
  sequence.tokens.push_back(sampled.token);
  sequence.processor.observe(sampled.token);
  ++stats_.generation_tokens;
  Event event{.kind = Event::Kind::token, .choice = sequence.choice, .token = sampled.token};
  event.logprobs = std::move(sampled.logprobs);
  send(group, std::move(event));

  if (sequence.processor.is_stop(sampled.token)) {
    Event stop = finished_event(FinishReason::stop);
    stop.stop_token = sampled.token;
    return finish(sequence, std::move(stop));
  }
  if (sequence.mask) sequence.mask->accept(sampled.token);
  if (sequence.mask && sequence.mask->finished()) {
    finish(sequence, finished_event(FinishReason::stop));
  } else if (is_full(sequence, static_cast<int32_t>(sequence.tokens.size()))) {
    finish(sequence, finished_event(FinishReason::length));
  } else if (sequence.num_unknown == 0 && must_recompute(sequence)) {
    recompute(sequence);
  }
}

// Whether its last token, known or not, takes the sequence into another length class.
bool Scheduler::must_recompute(const Sequence& sequence) const {
  return limits_.recomputes_when_class_grows &&
         limits_.length_class(sequence.size()) != length_class_of(sequence);
}

}  // namespace matador
