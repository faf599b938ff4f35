#include "backends/cpu/rope_tables.h"

#include <algorithm>
#include <cmath>

namespace matador::cpu {

const RopeTable& RopeTables::get(const Rope& rope, const Batch& batch) {
  auto found = std::find_if(tables_.begin(), tables_.end(),
                            [&](const RopeTable& table) { return table.rope == rope; });
  if (found == tables_.end()) {
    found = tables_.emplace(tables_.end());
    found->rope = rope;
    if (!rope.depends_on_length()) found->frequencies = rope.frequencies(0);
  }
  const bool current = std::ranges::equal(found->positions, batch.positions) &&
                       std::ranges::equal(found->rope_lengths, batch.rope_lengths);
  if (!current) fill(*found, batch);
  return *found;
}

void RopeTables::fill(RopeTable& table, const Batch& batch) {
  const Rope& rope = table.rope;
  const size_t half = static_cast<size_t>(rope.dim / 2);
  const size_t tokens = batch.positions.size();
  table.cosines.resize(tokens * half);
  table.sines.resize(tokens * half);
  std::vector<float> by_length;
  for (size_t t = 0; t < tokens; ++t) {
    if (rope.depends_on_length() &&
        (t == 0 || batch.rope_lengths[t] != batch.rope_lengths[t - 1])) {
      by_length = rope.frequencies(batch.rope_lengths[t]);
    }
    const std::vector<float>& frequencies =
        rope.depends_on_length() ? by_length : table.frequencies;
    for (size_t i = 0; i < half; ++i) {
      // The angle is rounded to f32, as checkpoints were trained with.
      const float angle = static_cast<float>(batch.positions[t]) * frequencies[i];
      table.cosines[t * half + i] = rope.attention_factor * std::cos(angle);
      table.sines[t * half + i] = rope.attention_factor * std::sin(angle);
    }
  }
  table.positions.assign(batch.positions.begin(), batch.positions.end());
  table.rope_lengths.assign(batch.rope_lengths.begin(), batch.rope_lengths.end());
}

}  // namespace matador::cpu
