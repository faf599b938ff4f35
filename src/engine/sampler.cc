#include "engine/sampler.h"

#include <algorithm>
#include <cmath>

#include "engine/random.h"

namespace matador {

namespace {

constexpr float kGreedyTemperature = 1e-5F;  // below it, sampling is greedy
constexpr size_t kBlock = 1024;
constexpr float kLowest = std::numeric_limits<float>::lowest();

}  // namespace

Sampled Sampler::sample(std::span<const float> logits, const SamplingContext& context) {
  const SamplingParams& params = context.params;
  Peaked row{logits};
  int32_t best = argmax(logits);
  if (best < 0) return {.error = "the model computed logits that are not finite"};
  if (context.processor.active() || !context.mask.empty()) {
    context.processor.process(logits, context.tokens, context.mask, processed_);
    row.logits = processed_;
    best = argmax(processed_);
    if (best < 0) return {.error = "the request's parameters leave no token to choose"};
  }
  Sampled sampled{.token = best};
  if (params.temperature >= kGreedyTemperature) {
    row.max = row.logits[best];
    row.scale = 1 / params.temperature;
    auto choice = static_cast<uint32_t>(context.choice);
    double random = uniform(context.seed, choice, static_cast<uint64_t>(context.position));
    sampled.token = draw(row, params, random);
  }
  if (params.logprobs) sampled.logprobs = logprobs(logits, sampled.token, *params.logprobs);
  return sampled;
}

int32_t Sampler::draw(const Peaked& row, const SamplingParams& params, double random) {
  float floor = kLowest;
  if (params.min_p > 0) {
    floor = std::max(floor, row.max + std::log(params.min_p) * params.temperature);
  }
  bool limits_count = params.top_k > 0 && static_cast<size_t>(params.top_k) < row.logits.size();
  if (!limits_count && params.top_p >= 1 && params.min_p <= 0) return draw_any(row, random);
  if (!limits_count && params.top_p < 1) {
    gather_nucleus(row, floor, params.top_p);
    return draw_candidate(random);
  }
  size_t count = limits_count ? static_cast<size_t>(params.top_k) : row.logits.size();
  select_top(row.logits, count, floor, candidates_);
  double total = 0;
  for (Candidate& c : candidates_) {
    exponentials({&c.logit, 1}, row.max, row.scale, &c.weight);
    total += c.weight;
  }
  if (params.top_p < 1) candidates_.resize(nucleus(candidates_, params.top_p * total));
  return draw_candidate(random);
}

// The whole vocabulary: the block that the random number falls into, then the token.
int32_t Sampler::draw_any(const Peaked& row, double random) {
  double total = 0;
  block_mass_.clear();
  auto block_at = [&](size_t index) {
    size_t begin = index * kBlock;
    return row.logits.subspan(begin, std::min(kBlock, row.logits.size() - begin));
  };
  for (size_t i = 0; i * kBlock < row.logits.size(); ++i) {
    block_mass_.push_back(mass(block_at(i), row.max, row.scale, kLowest));
    total += block_mass_.back();
  }
  double target = random * total;
  size_t index = 0;
  while (index + 1 < block_mass_.size() && target >= block_mass_[index]) {
    target -= block_mass_[index++];
  }
  auto block = block_at(index);
  weights_.resize(block.size());
  exponentials(block, row.max, row.scale, weights_.data());
  int32_t chosen = -1;
  for (size_t i = 0; i < block.size(); ++i) {
    if (weights_[i] <= 0) continue;
    chosen = static_cast<int32_t>(index * kBlock + i);
    target -= weights_[i];
    if (target < 0) break;
  }
  // Rounding may point past the last block with any mass.
  return chosen >= 0 ? chosen : argmax(row.logits);
}

// The candidates of top_p: those near the maximum are gathered, in a widening band, until they
// hold enough of the mass; few distributions need a second look.
void Sampler::gather_nucleus(const Peaked& row, float floor, float top_p) {
  double target = top_p * mass(row.logits, row.max, row.scale, floor);
  for (float width = 8;; width *= 1.25F) {
    float bottom = std::max(floor, row.max - width / row.scale);
    select_top(row.logits, row.logits.size(), bottom, candidates_);
    double gathered = 0;
    for (Candidate& c : candidates_) {
      exponentials({&c.logit, 1}, row.max, row.scale, &c.weight);
      gathered += c.weight;
    }
    if (gathered >= target || width > 128) break;
  }
  candidates_.resize(nucleus(candidates_, target));
}

// In order of ids, as devices that draw do.
int32_t Sampler::draw_candidate(double random) {
  std::ranges::sort(candidates_, {}, &Candidate::token);
  double total = 0;
  for (const Candidate& c : candidates_) total += c.weight;
  double target = random * total;
  int32_t chosen = candidates_.front().token;
  for (const Candidate& c : candidates_) {
    if (c.weight <= 0) continue;
    chosen = c.token;
    target -= c.weight;
    if (target < 0) break;
  }
  return chosen;
}

TokenLogprobs Sampler::logprobs(std::span<const float> logits, int32_t token, int32_t top) {
  int32_t best = argmax(logits);
  CHECK(best >= 0);
  double log_total = std::log(mass(logits, logits[best], 1, kLowest)) + logits[best];
  auto of = [&](int32_t id, int32_t rank) {
    return Logprob{id, static_cast<float>(logits[id] - log_total), rank};
  };
  TokenLogprobs result{of(token, rank_of(logits, token)), {}};
  if (top <= 0) return result;
  select_top(logits, static_cast<size_t>(top), kLowest, candidates_);
  std::ranges::sort(candidates_, more_likely);
  for (const Candidate& c : candidates_) {
    result.top.push_back(of(c.token, static_cast<int32_t>(result.top.size()) + 1));
  }
  return result;
}

}  // namespace matador
