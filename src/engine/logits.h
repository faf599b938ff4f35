// Reductions over one row of logits: a pass or two over the vocabulary, no sort, no allocation
// beyond what the caller keeps. Order is total everywhere: higher logits first, ties by lower id.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace matador {

constexpr float kBanned = -std::numeric_limits<float>::infinity();

struct Candidate {
  float logit = 0;
  float weight = 0;  // unnormalised probability
  int32_t token = 0;
};
inline bool more_likely(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

// The likeliest token; -1 where a logit is NaN or +infinity, or none is above -infinity.
int32_t argmax(std::span<const float> logits);

// exp(scale * (logit - max)) of each, for logits <= max and scale > 0. Relative error below 3e-7.
void exponentials(std::span<const float> logits, float max, float scale, float* out);
// Their sum over logits >= floor.
double mass(std::span<const float> logits, float max, float scale, float floor);

// 1 + the number of tokens that come before this one.
int32_t rank_of(std::span<const float> logits, int32_t token);

// The `count` likeliest of those >= floor, in no particular order; never a banned one.
void select_top(std::span<const float> logits, size_t count, float floor,
                std::vector<Candidate>& out);

// Moves the fewest likeliest candidates whose weights reach `target` to the front; their number.
size_t nucleus(std::span<Candidate> candidates, double target);

}  // namespace matador
