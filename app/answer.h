// Answer: one generated text, printed as it comes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "engine/served_model.h"
#include "terminal.h"

namespace matador {

struct Answer {
  std::string text;
  int32_t prompt_tokens = 0;
  int32_t tokens = 0;
  FinishReason reason = FinishReason::stop;
  std::chrono::duration<double> to_first_token{};
  std::chrono::duration<double> after_first_token{};
};

// Prints to stdout, piece by piece. Ctrl-C ends the answer where `interrupts` is given; what was
// said until then is returned.
Result<Answer> print_answer(ServedModel& model, std::vector<int32_t> prompt,
                            const SamplingParams& params, Interrupts* interrupts);
// One dim line on stderr, where that is a terminal.
void print_speed(const Answer& answer);

}  // namespace matador
