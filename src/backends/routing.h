// route: which experts a token goes to. One function for every backend, so that all choose alike.
//
// Scores: softmax or sigmoid of the logits. The choice goes by score + correction, within the best
// groups (DeepSeek-V2, arXiv 2405.04434; DeepSeek-V3, arXiv 2412.19437); the lower index wins a
// tie. The weights are the scores of the chosen, normalised and scaled. Sparsemixer (PhiMoE, arXiv
// 2409.12136) instead gives each choice the share it has among the experts that are near it.
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/params.h"
#include "core/device.h"

namespace matador {
namespace routing {

// The best of experts [begin, end) that comes after (value, index) in descending order, or
// `otherwise` where none does (scores that are not numbers).
template <class Value>
MATADOR_DEVICE int32_t next_best(int32_t begin, int32_t end, float value, int32_t index,
                                 int32_t otherwise, Value value_of) {
  int32_t best = -1;
  float best_value = 0;
  for (int32_t e = begin; e < end; ++e) {
    const float x = value_of(e);
    const bool follows = x < value || (x == value && e > index);
    if (follows && (best < 0 || x > best_value)) {
      best = e;
      best_value = x;
    }
  }
  return best < 0 ? otherwise : best;
}

MATADOR_DEVICE float highest(const float* values, int32_t count) {
  float result = values[0];
  for (int32_t i = 1; i < count; ++i) result = values[i] > result ? values[i] : result;
  return result;
}

MATADOR_DEVICE void score(const Routing& routing, const float* logits, float* scores) {
  if (routing.score == Routing::Score::sigmoid) {
    for (int32_t e = 0; e < routing.num_experts; ++e) scores[e] = 1 / (1 + expf(-logits[e]));
    return;
  }
  const float peak = highest(logits, routing.num_experts);
  float total = 0;
  for (int32_t e = 0; e < routing.num_experts; ++e) total += scores[e] = expf(logits[e] - peak);
  for (int32_t e = 0; e < routing.num_experts; ++e) scores[e] /= total;
}

// A bit for each group that may be chosen from.
template <class Value>
MATADOR_DEVICE uint64_t best_groups(const Routing& routing, Value value_of) {
  const int32_t size = routing.num_experts / routing.num_groups;
  const auto group_value = [&](int32_t group) {
    const int32_t begin = group * size, end = begin + size;
    const int32_t first = next_best(begin, end, INFINITY, -1, begin, value_of);
    if (!routing.groups_by_two || size == 1) return value_of(first);
    return value_of(first) +
           value_of(next_best(begin, end, value_of(first), first, begin, value_of));
  };
  uint64_t groups = 0;
  float value = INFINITY;
  int32_t group = -1;
  for (int32_t i = 0; i < routing.top_groups; ++i) {
    group = next_best(0, routing.num_groups, value, group, i, group_value);
    value = group_value(group);
    groups |= uint64_t{1} << group;
  }
  return groups;
}

MATADOR_DEVICE void mix_sparsely(const Routing& routing, const float* logits, int32_t* experts,
                                 float* weights) {
  float value = INFINITY;
  int32_t expert = -1;
  for (int32_t i = 0; i < routing.top_k; ++i) {
    const auto logit_of = [&](int32_t e) { return logits[e]; };
    const float last_value = value;
    const int32_t last = expert;
    expert = next_best(0, routing.num_experts, value, expert, i, logit_of);
    value = logits[expert];
    float total = 0;
    for (int32_t e = 0; e < routing.num_experts; ++e) {
      const bool chosen = logits[e] > last_value || (logits[e] == last_value && e <= last);
      const float magnitude = fmaxf(fabsf(logits[e]), value);
      if (chosen || (value - logits[e]) / magnitude > 2 * routing.jitter) continue;
      total += expf(logits[e] - value);
    }
    experts[i] = expert;
    weights[i] = 1 / total;
  }
}

}  // namespace routing

// `correction` is null unless routing.corrected; `scores` is scratch for num_experts values.
// Writes top_k experts, in descending order of preference, and their weights.
MATADOR_DEVICE void route(const Routing& routing, const float* logits, const float* correction,
                          float* scores, int32_t* experts, float* weights) {
  if (routing.score == Routing::Score::sparsemixer) {
    return routing::mix_sparsely(routing, logits, experts, weights);
  }
  routing::score(routing, logits, scores);
  const int32_t group_size = routing.num_experts / routing.num_groups;
  const auto preference = [&](int32_t e) {
    return correction != nullptr ? scores[e] + correction[e] : scores[e];
  };
  const bool grouped = routing.top_groups < routing.num_groups;
  const uint64_t groups = grouped ? routing::best_groups(routing, preference) : ~uint64_t{0};
  const auto value_of = [&](int32_t e) {
    return (groups >> (e / group_size) & 1) != 0 ? preference(e) : -INFINITY;
  };
  float value = INFINITY, total = 0;
  int32_t expert = -1;
  for (int32_t i = 0; i < routing.top_k; ++i) {
    expert = routing::next_best(0, routing.num_experts, value, expert, i, value_of);
    value = value_of(expert);
    experts[i] = expert;
    total += weights[i] = scores[expert];
  }
  const float factor = routing.normalise ? routing.scale / total : routing.scale;
  for (int32_t i = 0; i < routing.top_k; ++i) weights[i] *= factor;
}

}  // namespace matador
