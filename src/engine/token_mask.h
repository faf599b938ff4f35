// TokenMask: the tokens that a sequence's constraint allows next, computed while the device works.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/constraint.h"

namespace matador {

// prepare() may run on another thread, once a token; the rest is for the thread that owns the
// sequence, while no prepare() runs.
class TokenMask {
 public:
  // `end_tokens` may come wherever the output may end.
  TokenMask(std::shared_ptr<const Constraint> constraint, std::vector<int32_t> end_tokens,
            int32_t vocab_size);

  // Computes the mask of the next token, unless it is known: what a preempted sequence may
  // generate next does not change.
  void prepare();
  // Bit t % 32 of word t / 32: token t is allowed. Valid after prepare().
  std::span<const uint32_t> bits() const { return bits_; }
  void accept(int32_t token);
  // The output is complete.
  bool finished() const;
  // Not "": the constraint has failed, and the sequence with it.
  const std::string& error() const { return error_; }

 private:
  std::shared_ptr<const Constraint> constraint_;
  std::unique_ptr<ConstraintState> state_;  // made by the first prepare()
  std::vector<int32_t> end_tokens_;
  std::vector<uint32_t> bits_;
  std::string error_;
  bool ready_ = false;
};

}  // namespace matador
