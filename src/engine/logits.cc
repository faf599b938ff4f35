#include "engine/logits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace matador {

namespace {

constexpr size_t kBlock = 1024;  // logits treated at a time: they and their results fit the L1

// An integer that orders as the float does. NaNs lie beyond the infinities, on either side. The
// sum makes -0 equal to 0.
int32_t order_key(float x) {
  auto bits = std::bit_cast<int32_t>(x + 0.0F);
  return bits ^ ((bits >> 31) & 0x7FFFFFFF);
}

// x or 0, without a branch that would keep a loop from being vectorised.
float keep_if(bool condition, float x) {
  return std::bit_cast<float>(std::bit_cast<int32_t>(x) & -static_cast<int32_t>(condition));
}

// exp(x) for x <= 0, written so that compilers vectorise it: x = n ln 2 + r, a polynomial for
// exp(r), and n added to the exponent.
float fast_exp(float x) {
  float clamped = x < -87.0F ? -87.0F : x;
  float n = clamped * 1.44269504F + 12582912.0F;  // rounds to an integer in the low bits
  auto exponent = std::bit_cast<int32_t>(n) << 23;
  n -= 12582912.0F;
  float r = clamped - n * 0.693359375F + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  return keep_if(x >= -87.0F, std::bit_cast<float>(std::bit_cast<int32_t>(p) + exponent));
}

std::span<const float> block_at(std::span<const float> logits, size_t begin) {
  return logits.subspan(begin, std::min(kBlock, logits.size() - begin));
}

}  // namespace

int32_t argmax(std::span<const float> logits) {
  const int32_t banned = order_key(kBanned), infinite = order_key(-kBanned);
  int32_t lowest = 0, highest = banned;
  size_t best_block = 0;
  for (size_t begin = 0; begin < logits.size(); begin += kBlock) {
    int32_t low = infinite, high = banned;
    for (float x : block_at(logits, begin)) {
      int32_t key = order_key(x);
      low = std::min(low, key);
      high = std::max(high, key);
    }
    lowest = std::min(lowest, low);
    if (high > highest) {
      highest = high;
      best_block = begin;
    }
  }
  if (lowest < banned || highest >= infinite || highest == banned) return -1;
  auto block = block_at(logits, best_block);
  auto is_best = [&](float x) { return order_key(x) == highest; };
  return static_cast<int32_t>(best_block + (std::ranges::find_if(block, is_best) - block.begin()));
}

void exponentials(std::span<const float> logits, float max, float scale, float* out) {
  for (size_t i = 0; i < logits.size(); ++i) out[i] = fast_exp((logits[i] - max) * scale);
}

double mass(std::span<const float> logits, float max, float scale, float floor) {
  std::array<float, kBlock> weights;
  std::array<double, 8> lanes = {};
  for (size_t begin = 0; begin < logits.size(); begin += kBlock) {
    auto block = block_at(logits, begin);
    exponentials(block, max, scale, weights.data());
    for (size_t i = 0; i < block.size(); ++i) weights[i] = keep_if(block[i] >= floor, weights[i]);
    std::fill(weights.begin() + static_cast<int64_t>(block.size()), weights.end(), 0.0F);
    for (size_t i = 0; i < kBlock; i += lanes.size()) {
      for (size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] += weights[i + lane];
    }
  }
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

int32_t rank_of(std::span<const float> logits, int32_t token) {
  const float own = logits[token];
  int32_t before = 0;
  for (float x : logits.first(token)) before += x >= own;
  for (float x : logits.subspan(token)) before += x > own;
  return before + 1;
}

void select_top(std::span<const float> logits, size_t count, float floor,
                std::vector<Candidate>& out) {
  out.clear();
  // Ids ascend, so a later token has to exceed the worst one kept.
  float bar = std::nextafter(std::max(floor, std::numeric_limits<float>::lowest()), kBanned);
  const size_t limit = 2 * count + 64;
  auto prune = [&] {
    std::ranges::nth_element(out, out.begin() + static_cast<int64_t>(count) - 1, more_likely);
    out.resize(count);
    bar = out.back().logit;
  };
  for (size_t begin = 0; begin < logits.size(); begin += 32) {
    auto block = logits.subspan(begin, std::min<size_t>(32, logits.size() - begin));
    int32_t above = 0;
    for (float x : block) above += x > bar;
    if (above == 0) continue;
    for (size_t i = 0; i < block.size(); ++i) {
      if (block[i] > bar) out.push_back({block[i], 0, static_cast<int32_t>(begin + i)});
    }
    if (out.size() >= limit) prune();
  }
  if (out.size() > count) prune();
}

size_t nucleus(std::span<Candidate> candidates, double target) {
  size_t low = 0, high = candidates.size();
  double before = 0;  // of [0, low), below the target; that of [0, high) reaches it
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    auto begin = candidates.begin();
    std::nth_element(begin + low, begin + middle, begin + high, more_likely);
    double upper = 0;
    for (size_t i = low; i < middle; ++i) upper += candidates[i].weight;
    if (before + upper >= target) {
      high = middle;
    } else {
      before += upper;
      low = middle;
    }
  }
  return high;
}

}  // namespace matador
