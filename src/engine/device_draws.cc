#include "engine/device_draws.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/random.h"

namespace matador {

namespace {

TokenLogprobs logprobs_of(std::span<const DrawnLogprob> drawn, int32_t num_top) {
  const auto to_logprob = [](const DrawnLogprob& l) { return Logprob{l.token, l.logprob, l.rank}; };
  TokenLogprobs result{to_logprob(drawn[0]), {}};
  for (int32_t i = 1; i <= num_top && drawn[i].token >= 0; ++i) {
    result.top.push_back(to_logprob(drawn[i]));
  }
  return result;
}

Sampled sampled(int32_t token) {
  if (token >= 0) return {.token = token};
  if (token == DrawResults::kNoneLeft) {
    return {.error = "the request's parameters leave no token to choose"};
  }
  return {.error = "the model computed logits that are not finite"};
}

}  // namespace

Draws DeviceDraws::prepare(const Plan& plan) {
  draws_.clear();
  edits_.clear();
  masks_.clear();
  for (const Plan::Draw& draw : plan.draws) draws_.push_back(describe(draw));
  for (const Plan::Item& item : plan.items) add_prompt_logprobs(item);
  return {.draws = draws_,
          .edits = edits_,
          .masks = masks_,
          .mask_words = (vocab_size_ + 31) / 32,
          .logprobs = std::ranges::any_of(draws_, [](auto& draw) { return draw.num_top >= 0; })};
}

TokenDraw DeviceDraws::describe(const Plan::Draw& planned) {
  const Sequence& sequence = *planned.sequence;
  const SequenceGroup& group = sequence.group;
  const SamplingParams& params = sequence.params();
  TokenDraw draw;
  draw.row = planned.row;
  draw.random = uniform(group.seed, static_cast<uint32_t>(sequence.choice),
                        static_cast<uint64_t>(planned.position));
  draw.temperature = params.temperature;
  if (params.min_p > 0) draw.floor = std::log(params.min_p) * params.temperature;
  draw.top_k = params.top_k;
  draw.top_p = params.top_p;
  draw.repetition_penalty = params.repetition_penalty;
  draw.frequency_penalty = params.frequency_penalty;
  draw.presence_penalty = params.presence_penalty;
  draw.num_top = params.logprobs.value_or(-1);
  const bool forced = sequence.processor.forced().has_value();
  if (forced || sequence.mask || !params.allowed_token_ids.empty()) draw.mask = add_mask(sequence);
  if (forced || !sequence.processor.active()) return draw;
  const std::vector<int32_t>& tokens =
      sequence.tokens.empty() ? group.request.prompt : sequence.tokens;
  draw.first_edit = static_cast<int32_t>(edits_.size());
  sequence.processor.append_edits(tokens, edits_);
  draw.num_edits = static_cast<int32_t>(edits_.size()) - draw.first_edit;
  return draw;
}

// What is forced, or the tokens of allowed_token_ids that the constraint allows too.
int32_t DeviceDraws::add_mask(const Sequence& sequence) {
  const std::vector<int32_t>& allowed = sequence.params().allowed_token_ids;
  const size_t words = static_cast<size_t>(vocab_size_ + 31) / 32, begin = masks_.size();
  const auto forced = sequence.processor.forced();
  masks_.resize(begin + words, allowed.empty() && !forced ? ~uint32_t{0} : 0);
  if (forced) {
    masks_[begin + *forced / 32] = uint32_t{1} << *forced % 32;
    return static_cast<int32_t>(begin / words);
  }
  for (int32_t token : allowed) masks_[begin + token / 32] |= uint32_t{1} << token % 32;
  if (sequence.mask) {
    for (size_t i = 0; i < words; ++i) masks_[begin + i] &= sequence.mask->bits()[i];
  }
  return static_cast<int32_t>(begin / words);
}

void DeviceDraws::add_prompt_logprobs(const Plan::Item& item) {
  const int32_t first = item.end() - item.num_rows;
  for (int32_t i = 0; i < item.num_prompt_logprobs; ++i) {
    TokenDraw draw;
    draw.row = item.first_row + i;
    draw.given = item.sequence->tokens[first + i + 1];
    draw.num_top = *item.sequence->params().prompt_logprobs;
    draws_.push_back(draw);
  }
}

void DeviceDraws::launched(const Plan& plan) {
  Shape shape{.num_draws = plan.draws.size(), .num_top = {}, .errors = {}};
  for (const TokenDraw& draw : draws_) shape.num_top.push_back(draw.num_top);
  for (const Plan::Draw& draw : plan.draws) {
    const TokenMask* mask = draw.sequence->mask.get();
    shape.errors.push_back(mask != nullptr ? mask->error() : "");
  }
  launched_.push_back(std::move(shape));
}

StepOutput DeviceDraws::collect(Backend& backend) {
  const Shape shape = std::move(launched_.front());
  launched_.pop_front();
  StepOutput output;
  if (shape.num_top.empty()) return output;
  const DrawResults results = backend.take_draws();
  const auto logprobs_at = [&](size_t i) {
    return logprobs_of(results.logprobs.subspan(i * DrawResults::kLogprobs, DrawResults::kLogprobs),
                       shape.num_top[i]);
  };
  for (size_t i = 0; i < shape.num_top.size(); ++i) {
    const bool has_logprobs = shape.num_top[i] >= 0 && results.tokens[i] >= 0;
    if (i >= shape.num_draws) {
      output.prompt_logprobs.push_back(has_logprobs ? logprobs_at(i) : TokenLogprobs());
      continue;
    }
    if (!shape.errors[i].empty()) {
      output.draws.push_back({.error = shape.errors[i]});
      continue;
    }
    output.draws.push_back(sampled(results.tokens[i]));
    if (has_logprobs) output.draws.back().logprobs = logprobs_at(i);
  }
  return output;
}

}  // namespace matador
