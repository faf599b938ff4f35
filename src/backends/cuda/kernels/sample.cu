#include "backends/cuda/kernels/element.cuh"
#include "backends/cuda/kernels/sample.cuh"
#include "backends/cuda/kernels/sample.h"

namespace matador::cuda {
namespace {

constexpr int kBins = 256;

struct Shared {
  uint64_t words[kSampleWarps];
  uint64_t bins[kBins];
  uint64_t chosen;  // what one thread found, for all
  uint64_t before;
  uint32_t ties[kSampleWarps];
};

// The best token's place; 0 where none is above -infinity. `finite` becomes false where a logit is
// NaN or infinity.
__device__ uint64_t best_below(const float* x, int32_t size, uint64_t limit, bool* finite,
                               Shared& shared) {
  uint64_t best = 0, wrong = 0;
  for (int32_t i = threadIdx.x; i < size; i += kSampleThreads) {
    const float logit = x[i];
    if (!(logit < -kBannedLogit)) wrong = 1;
    if (!(logit > kBannedLogit)) continue;
    const uint64_t place = place_of(logit, i);
    if (place < limit && place > best) best = place;
  }
  if (finite != nullptr) *finite = block_max(wrong, shared.words) == 0;
  return block_max(best, shared.words);
}

// The row with its mask and edits applied.
__device__ const float* edited(const float* x, float* scratch, int32_t size, const TokenDraw& draw,
                               const DrawArrays& arrays) {
  if (draw.num_edits == 0 && draw.mask < 0) return x;
  const auto* masks = reinterpret_cast<const uint32_t*>(arrays.words + arrays.offsets[1]);
  const uint32_t* mask = draw.mask < 0 ? nullptr : masks + int64_t{draw.mask} * arrays.mask_words;
  for (int32_t i = threadIdx.x; i < size; i += kSampleThreads) {
    const bool allowed = mask == nullptr || (mask[i / 32] >> (i % 32) & 1) != 0;
    scratch[i] = allowed ? x[i] : kBannedLogit;
  }
  __syncthreads();
  const auto* edits = reinterpret_cast<const LogitEdit*>(arrays.words + arrays.offsets[0]);
  for (int32_t i = threadIdx.x; i < draw.num_edits; i += kSampleThreads) {
    const LogitEdit edit = edits[draw.first_edit + i];
    float logit = __fadd_rn(scratch[edit.token], edit.bias);
    if (edit.count >= 0) {
      const float penalty = draw.repetition_penalty;
      logit = logit > 0 ? __fdiv_rn(logit, penalty) : __fmul_rn(logit, penalty);
    }
    if (edit.count > 0) {
      logit = __fadd_rn(logit, -__fmul_rn(draw.frequency_penalty, static_cast<float>(edit.count)));
      logit = __fadd_rn(logit, -draw.presence_penalty);
    }
    scratch[edit.token] = logit;
  }
  __syncthreads();
  return scratch;
}

// Lowers the bar from the top until what lies above it, and the first of those at it, measure
// `target` (at least 1): a radix selection, 8 bits of the key at a time. `measure` is each token's
// share; tokens with a key below `lowest` have none.
template <class Measure>
__device__ Bar select(const WeightedRow& row, uint32_t lowest, uint64_t target, Measure measure,
                      Shared& shared) {
  uint32_t prefix = 0;
  uint64_t before = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (threadIdx.x < kBins) shared.bins[threadIdx.x] = 0;
    __syncthreads();
    for (int32_t i = threadIdx.x; i < row.size; i += kSampleThreads) {
      const uint32_t key = order_key(row.x[i]);
      const bool same = shift == 24 || key >> (shift + 8) == prefix;
      if (!same || key < lowest || key == order_key(kBannedLogit)) continue;
      const auto share = static_cast<unsigned long long>(measure(row.x[i]));
      atomicAdd(reinterpret_cast<unsigned long long*>(&shared.bins[key >> shift & 0xFF]), share);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int bin = kBins - 1;
      uint64_t sum = before;
      while (bin > 0 && sum + shared.bins[bin] < target) sum += shared.bins[bin--];
      shared.chosen = static_cast<uint64_t>(bin);
      shared.before = sum;
    }
    __syncthreads();
    prefix = prefix << 8 | static_cast<uint32_t>(shared.chosen);
    before = shared.before;
  }
  // All at the bar measure the same.
  const uint64_t all = shared.bins[prefix & 0xFF];
  uint32_t mine = 0;
  for (int32_t i = threadIdx.x; i < row.size; i += kSampleThreads) {
    mine += order_key(row.x[i]) == prefix;
  }
  const uint64_t count = block_total<uint64_t>(mine, shared.words);
  if (count == 0 || all == 0) return {prefix, static_cast<uint32_t>(count)};
  const uint64_t each = all / count;
  const uint64_t wanted = (target - before + each - 1) / each;
  return {prefix, static_cast<uint32_t>(wanted < count ? wanted : count)};
}

// A warp looks at a run of tokens: `visit` gets each step's token, its logit, and whether it is
// at or above the bar. `ties` counts those at the bar before the run.
template <class Visit>
__device__ void visit_run(const WeightedRow& row, Bar bar, uint32_t ties, Visit visit) {
  const int lane = threadIdx.x % 32;
  const int32_t length = (row.size + kSampleWarps * 32 - 1) / (kSampleWarps * 32) * 32;
  const int32_t begin = static_cast<int32_t>(threadIdx.x / 32) * length;
  for (int32_t i = begin + lane; i < begin + length; i += 32) {
    const bool inside = i < row.size;
    const float logit = inside ? row.x[i] : kBannedLogit;
    const uint32_t key = order_key(logit);
    const bool tied = inside && key == bar.key;
    const uint32_t tied_lanes = __ballot_sync(0xFFFFFFFFU, tied);
    const uint32_t rank = ties + __popc(tied_lanes & ((1U << lane) - 1));
    ties += __popc(tied_lanes);
    if (visit(i, logit, inside && (key > bar.key || (tied && rank < bar.ties)))) return;
  }
}

// Ties at the bar in the runs before this warp's.
__device__ uint32_t ties_before(const WeightedRow& row, Bar bar, Shared& shared) {
  uint32_t mine = 0;
  visit_run(row, bar, 0, [&](int32_t i, float logit, bool) {
    mine += i < row.size && order_key(logit) == bar.key;
    return false;
  });
  mine = warp_total(mine);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared.ties[threadIdx.x / 32] = mine;
  __syncthreads();
  uint32_t before = 0;
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) before += shared.ties[warp];
  return before;
}

// The weight of each warp's run, in shared.words; returns that of all.
__device__ uint64_t weigh_runs(const WeightedRow& row, Bar bar, uint32_t ties, Shared& shared) {
  uint64_t mine = 0;
  visit_run(row, bar, ties, [&](int32_t, float logit, bool kept) {
    if (kept) mine += row.weight(logit);
    return false;
  });
  mine = warp_total(mine);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared.words[threadIdx.x / 32] = mine;
  __syncthreads();
  return warp_total(shared.words[threadIdx.x % 32]);
}

// The first token, by id, up to which the kept weights exceed `random` of them all.
__device__ int32_t pick(const WeightedRow& row, Bar bar, double random, Shared& shared) {
  const uint32_t ties = ties_before(row, bar, shared);
  const uint64_t total = weigh_runs(row, bar, ties, shared);
  auto target = static_cast<uint64_t>(random * static_cast<double>(total));
  if (target >= total) target = total - 1;
  uint64_t before = 0;
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) before += shared.words[warp];
  const bool here = before <= target && target < before + shared.words[threadIdx.x / 32];
  if (here) {
    const int lane = threadIdx.x % 32;
    visit_run(row, bar, ties, [&](int32_t i, float logit, bool kept) {
      uint64_t sum = kept ? row.weight(logit) : 0;  // of this lane and those before it
      for (int step = 1; step < 32; step *= 2) {
        const uint64_t lower = __shfl_up_sync(0xFFFFFFFFU, sum, step);
        if (lane >= step) sum += lower;
      }
      const uint32_t reached = __ballot_sync(0xFFFFFFFFU, before + sum > target);
      before += __shfl_sync(0xFFFFFFFFU, sum, 31);
      if (reached == 0) return false;
      if (lane == __ffs(reached) - 1) shared.chosen = static_cast<uint64_t>(i);
      return true;
    });
  }
  __syncthreads();
  return static_cast<int32_t>(shared.chosen);
}

__device__ int32_t sample(const WeightedRow& row, const TokenDraw& draw, Shared& shared) {
  const float lowest = fmaxf(-3.402823466e38F, __fadd_rn(row.max, draw.floor));
  const uint32_t floor_key = order_key(lowest);
  Bar bar{floor_key - 1, 0};
  if (draw.top_k > 0 && draw.top_k < row.size) {
    bar = select(
        row, floor_key, static_cast<uint64_t>(draw.top_k), [](float) { return 1; }, shared);
    if (bar.key < floor_key) bar = {floor_key - 1, 0};  // fewer than top_k are left
  }
  if (draw.top_p < 1) {
    const uint64_t total = weigh_runs(row, bar, ties_before(row, bar, shared), shared);
    const double wanted = static_cast<double>(draw.top_p) * static_cast<double>(total);
    const uint64_t target = wanted > 1 ? static_cast<uint64_t>(ceil(wanted)) : 1;
    const uint32_t bottom = bar.key < floor_key ? floor_key : bar.key;
    const Bar nucleus = select(
        row, bottom, target, [&](float logit) { return row.weight(logit); }, shared);
    if (nucleus.key > bar.key || nucleus.ties < bar.ties) bar = nucleus;
  }
  return pick(row, bar, draw.random, shared);
}

// Logprobs of the raw logits: the token's, then the best.
__device__ void write_logprobs(const WeightedRow& raw, int32_t token, int32_t num_top,
                               DrawnLogprob* out, Shared& shared) {
  uint64_t mine = 0;
  uint32_t before = 0;
  const float own = raw.x[token];
  for (int32_t i = threadIdx.x; i < raw.size; i += kSampleThreads) {
    const float logit = raw.x[i];
    mine += raw.weight(logit);
    before += logit > own || (logit == own && i < token);
  }
  const uint64_t total = block_total(mine, shared.words);
  const auto rank = static_cast<int32_t>(block_total<uint64_t>(before, shared.words)) + 1;
  const double log_total =
      log(static_cast<double>(total) / double{kWeightOne}) + static_cast<double>(raw.max);
  const auto logprob = [&](int32_t id) {
    return static_cast<float>(static_cast<double>(raw.x[id]) - log_total);
  };
  if (threadIdx.x == 0) out[0] = {token, logprob(token), rank};
  uint64_t last = ~uint64_t{0};
  for (int32_t n = 1; n <= num_top; ++n) {
    last = best_below(raw.x, raw.size, last, nullptr, shared);
    if (threadIdx.x == 0) {
      out[n] = last == 0 ? DrawnLogprob{-1, 0, 0}
                         : DrawnLogprob{token_of(last), logprob(token_of(last)), n};
    }
    if (last == 0) return;
  }
}

constexpr float kGreedyTemperature = 1e-5F;  // as on the host

// `token` is the likeliest before any edit.
__device__ int32_t choose(const WeightedRow& raw, int32_t token, float* scratch,
                          const TokenDraw& draw, const DrawArrays& arrays, Shared& shared) {
  const float* x = edited(raw.x, scratch, raw.size, draw, arrays);
  if (x != raw.x) {
    const uint64_t best = best_below(x, raw.size, ~uint64_t{0}, nullptr, shared);
    if (best == 0) return DrawResults::kNoneLeft;
    token = token_of(best);
  }
  if (draw.temperature < kGreedyTemperature) return token;
  return sample({x, raw.size, x[token], __fdiv_rn(1.0F, draw.temperature)}, draw, shared);
}

// One block a draw.
__global__ void __launch_bounds__(kSampleThreads)
    draw_kernel(View<float> logits, int32_t vocabulary, View<float> scratch, DrawArrays arrays,
                DrawOutput output) {
  __shared__ Shared shared;
  const TokenDraw draw = arrays.draws[blockIdx.x];
  const float* x = logits.row(draw.row);
  bool finite = true;
  const uint64_t best = best_below(x, vocabulary, ~uint64_t{0}, &finite, shared);
  int32_t token = DrawResults::kNotFinite;
  if (finite && best != 0) {
    const int32_t likeliest = token_of(best);
    const WeightedRow raw{x, vocabulary, x[likeliest], 1};
    token = draw.given;
    if (token < 0) token = choose(raw, likeliest, scratch.row(blockIdx.x), draw, arrays, shared);
    if (token >= 0 && draw.num_top >= 0) {
      write_logprobs(raw, token, draw.num_top,
                     output.logprobs + int64_t{blockIdx.x} * DrawResults::kLogprobs, shared);
    }
  }
  if (threadIdx.x == 0) output.tokens[blockIdx.x] = token;
}

__global__ void resolve_kernel(int32_t* token_ids, int32_t count, const int32_t* drawn) {
  const auto i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count || token_ids[i] >= 0) return;
  const int32_t token = drawn[-1 - token_ids[i]];
  token_ids[i] = token < 0 ? 0 : token;  // of a draw that failed, whose sequence ends
}

}  // namespace

void draw_tokens(const Tensor& logits, const Tensor& scratch, const DrawArrays& arrays,
                 const DrawOutput& output, cudaStream_t stream) {
  draw_kernel<<<static_cast<unsigned>(arrays.count), kSampleThreads, 0, stream>>>(
      view<float>(logits), static_cast<int32_t>(logits.cols), view<float>(scratch), arrays, output);
  check_launch("draw_kernel");
}

void resolve_tokens(int32_t* token_ids, int32_t count, const int32_t* drawn, cudaStream_t stream) {
  constexpr int kThreads = 256;
  resolve_kernel<<<static_cast<unsigned>(ceil_div(count, kThreads)), kThreads, 0, stream>>>(
      token_ids, count, drawn);
  check_launch("resolve_kernel");
}

}  // namespace matador::cuda
