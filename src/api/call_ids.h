// The ids of the calls in an answer, in the form that the model's template wants back. Internal to
// this room.
#pragma once

#include <cstdint>
#include <string>

#include "dialects/format.h"

namespace matador {

class CallIdMaker {
 public:
  // `num_earlier`: calls in the conversation so far.
  explicit CallIdMaker(CallIds style = CallIds::openai, int32_t num_earlier = 0)
      : style_(style), num_earlier_(num_earlier) {}
  // Of call `call` of a choice.
  std::string make(const std::string& name, int32_t call) const;

 private:
  CallIds style_;
  int32_t num_earlier_;
};

}  // namespace matador
