// Choosing tokens on the device: the engine's sampler, draw for draw. Weights are summed in 45-bit
// fixed point, so that no order of summing changes anything; the host sums them in float64, and
// both choose the same token unless the random number lies within 1e-8 of the border between two.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backends/draws.h"
#include "core/tensor.h"

namespace matador::cuda {

// Draws on the device.
struct DrawArrays {
  const TokenDraw* draws = nullptr;
  const int32_t* words = nullptr;    // of the whole batch
  const int32_t* offsets = nullptr;  // where in them the edits and the masks begin
  int32_t count = 0;
  int32_t mask_words = 0;
};
struct DrawOutput {
  int32_t* tokens = nullptr;
  DrawnLogprob* logprobs = nullptr;  // [count, DrawResults::kLogprobs]
};

// logits: f32 [rows, vocabulary]; scratch: f32, a dense row a draw, for draws that edit theirs.
void draw_tokens(const Tensor& logits, const Tensor& scratch, const DrawArrays& arrays,
                 const DrawOutput& output, cudaStream_t stream);
// Token ids below 0 become the last batch's draws.
void resolve_tokens(int32_t* token_ids, int32_t count, const int32_t* drawn, cudaStream_t stream);

}  // namespace matador::cuda
