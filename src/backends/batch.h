// Batch: what one step computes, as plain arrays. A prompt's chunk and a decode are the same
// thing with different lengths, laid end to end without padding.
#pragma once

#include <cstdint>
#include <span>

#include "backends/draws.h"

namespace matador {

struct Batch {
  // Per token, [num_tokens]; the tokens of a sequence are contiguous and in order. Where the
  // device draws, token -1 - d is what draw d of the last batch gave.
  std::span<const int32_t> token_ids;
  std::span<const int32_t> positions;
  // The length that length-dependent rope scalings (dynamic, longrope) choose by: the prompt's
  // length for its tokens, position + 1 for generated ones, so that chunking changes nothing.
  std::span<const int32_t> rope_lengths;
  // Where the token's state goes: block * block_size + offset.
  std::span<const int32_t> slots;

  // Per sequence.
  std::span<const int32_t> query_start;   // [num_sequences + 1], token index where it begins
  std::span<const int32_t> context_lens;  // [num_sequences], tokens cached after this step
  std::span<const int32_t> block_tables;  // [num_sequences, block_table_stride]
  int32_t block_table_stride = 0;
  int32_t block_size = 0;

  // Indices of the tokens whose logits are wanted, ascending.
  std::span<const int32_t> logit_tokens;

  // For the program's Ops::draw, where the device draws.
  Draws draws = {};

  int32_t num_tokens() const { return static_cast<int32_t>(token_ids.size()); }
  int32_t num_sequences() const { return static_cast<int32_t>(context_lens.size()); }
};

}  // namespace matador
