#include "harness.h"

namespace matador::testing {

TestBatch::TestBatch(std::vector<Sequence> sequences, int32_t block_size, int32_t first_block) {
  int32_t stride = 0;
  for (const Sequence& s : sequences) {
    stride = std::max(stride, (s.cached + s.tokens + block_size - 1) / block_size);
  }
  // Blocks are handed out backwards, so that none lies where its index suggests.
  num_blocks_ = first_block + stride * static_cast<int32_t>(sequences.size());
  int32_t next = num_blocks_;
  for (const Sequence& s : sequences) {
    const size_t table = tables_.size();
    for (int32_t i = 0; i < stride; ++i) tables_.push_back(--next);
    for (int32_t position = s.cached; position < s.cached + s.tokens; ++position) {
      ids_.push_back(position % 7);
      positions_.push_back(position);
      rope_lengths_.push_back(s.cached + s.tokens);
      slots_.push_back(tables_[table + static_cast<size_t>(position / block_size)] * block_size +
                       position % block_size);
    }
    query_start_.push_back(static_cast<int32_t>(positions_.size()));
    context_lens_.push_back(s.cached + s.tokens);
  }
  batch_ = {.token_ids = ids_,
            .positions = positions_,
            .rope_lengths = rope_lengths_,
            .slots = slots_,
            .query_start = query_start_,
            .context_lens = context_lens_,
            .block_tables = tables_,
            .block_table_stride = stride,
            .block_size = block_size,
            .logit_tokens = {}};
}

}  // namespace matador::testing
