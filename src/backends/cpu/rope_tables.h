// RopeTables: the cosines and sines of a step's tokens, made once for each kind of rope and shared
// by all layers that have it.
#pragma once

#include <deque>
#include <vector>

#include "backends/batch.h"
#include "backends/params.h"

namespace matador::cpu {

struct RopeTable {
  Rope rope;
  std::vector<float> frequencies;                // of ropes that do not depend on a length
  std::vector<int32_t> positions, rope_lengths;  // of the tokens that it holds
  std::vector<float> cosines, sines;             // [tokens, dim / 2]
};

class RopeTables {
 public:
  // The table of the batch's tokens; valid until the next call for an equal rope.
  const RopeTable& get(const Rope& rope, const Batch& batch);

 private:
  static void fill(RopeTable& table, const Batch& batch);

  std::deque<RopeTable> tables_;  // one for each rope seen; references stay valid
};

}  // namespace matador::cpu
