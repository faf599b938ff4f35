// Constraint: what the output of a request must look like, as the engine sees it: which tokens may
// come next. It knows no grammar; engine/grammars.h makes one of text's Grammar.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/result.h"

namespace matador {

// How far one sequence has come. One user at a time, of any thread.
class ConstraintState {
 public:
  virtual ~ConstraintState() = default;
  // Sets bit t % 32 of mask[t / 32] for each token t that may come next and clears the others.
  // True: the output may also end here. Tokens that end an output are not in the mask.
  virtual Result<bool> fill_mask(std::span<uint32_t> mask) = 0;
  // One that the mask allowed was generated.
  virtual Status accept(int32_t token) = 0;
  // Nothing can follow: the output is complete.
  virtual bool finished() const = 0;
};

// Immutable; any thread may use it.
class Constraint {
 public:
  virtual ~Constraint() = default;
  virtual std::unique_ptr<ConstraintState> start() const = 0;
};

}  // namespace matador
