// How a step's query tokens are dealt out to thread blocks: in runs of tokens of one sequence.
#pragma once

#include <span>

#include "backends/cuda/kernels/kernels.h"

namespace matador::cuda {

// A block's part of a step.
struct Run {
  int sequence, first_token, num_tokens;
};

__device__ __forceinline__ int runs_of(const BatchArrays& batch, int sequence, int tokens,
                                       bool decodes_too) {
  if (sequence >= batch.num_sequences) return 0;
  const int length = batch.query_start[sequence + 1] - batch.query_start[sequence];
  return length > 1 || decodes_too ? (length + tokens - 1) / tokens : 0;
}

// The `index`th run of `tokens` tokens; called by a whole warp.
__device__ inline Run find_run(const BatchArrays& batch, int index, int tokens, bool decodes_too) {
  const int lane = threadIdx.x % 32;
  for (int base = 0;; base += 32) {
    const int runs = runs_of(batch, base + lane, tokens, decodes_too);
    int end = runs;  // runs up to and including this lane's sequence
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(0xFFFFFFFFU, end, step);
      if (lane >= step) end += other;
    }
    const unsigned beyond = __ballot_sync(0xFFFFFFFFU, end > index);
    if (beyond == 0) {
      index -= __shfl_sync(0xFFFFFFFFU, end, 31);
      continue;
    }
    const int found = __ffs(static_cast<int>(beyond)) - 1;
    const int before = __shfl_sync(0xFFFFFFFFU, end - runs, found);
    const int sequence = base + found;
    const int first = batch.query_start[sequence] + (index - before) * tokens;
    return {sequence, first, min(tokens, batch.query_start[sequence + 1] - first)};
  }
}

inline int count_runs(std::span<const int32_t> query_start, int tokens, bool decodes_too) {
  int runs = 0;
  for (size_t s = 0; s + 1 < query_start.size(); ++s) {
    const int length = query_start[s + 1] - query_start[s];
    if (length > 1 || decodes_too) runs += (length + tokens - 1) / tokens;
  }
  return runs;
}

}  // namespace matador::cuda
