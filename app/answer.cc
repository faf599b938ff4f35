#include "answer.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "event_queue.h"

namespace matador {

namespace {

using Clock = std::chrono::steady_clock;

void print_piece(std::string_view piece, Answer& answer) {
  answer.text += piece;
  std::fwrite(piece.data(), 1, piece.size(), stdout);
  std::fflush(stdout);
}

// The next event; asks the engine to stop on Ctrl-C meanwhile.
Event next_event(EventQueue& events, Engine& engine, RequestId id, Interrupts* interrupts) {
  if (interrupts == nullptr) return events.pop();
  for (;;) {
    if (interrupts->take()) engine.cancel(id);
    if (std::optional<Event> event = events.pop_for(std::chrono::milliseconds(50))) return *event;
  }
}

void count_token(Answer& answer, Clock::time_point start) {
  const std::chrono::duration<double> since = Clock::now() - start;
  if (answer.tokens++ == 0) answer.to_first_token = since;
  answer.after_first_token = since - answer.to_first_token;
}

}  // namespace

Result<Answer> print_answer(ServedModel& model, std::vector<int32_t> prompt,
                            const SamplingParams& params, Interrupts* interrupts) {
  Answer answer;
  answer.prompt_tokens = static_cast<int32_t>(prompt.size());
  auto events = std::make_shared<EventQueue>();
  Request request;
  request.prompt = std::move(prompt);
  request.params = params;
  request.sink = events;
  const Clock::time_point start = Clock::now();
  auto id = model.engine->submit(std::move(request));
  if (!id) return id.error();

  IncrementalDecoder decoder(model.tokenizer, /*skip_special_tokens=*/true);
  for (;;) {
    Event event = next_event(*events, *model.engine, *id, interrupts);
    if (event.kind == Event::Kind::token) {
      count_token(answer, start);
      print_piece(decoder.push(event.token), answer);
    } else if (event.kind == Event::Kind::finished) {
      print_piece(decoder.finish(), answer);
      answer.reason = event.reason;
      if (event.reason == FinishReason::error) return Error{ErrorCode::internal, event.error};
      return answer;
    }
  }
}

void print_speed(const Answer& answer) {
  if (!is_terminal(STDERR_FILENO) || answer.tokens == 0) return;
  std::fprintf(stderr, "\033[2m[%d prompt tokens in %.2f s", answer.prompt_tokens,
               answer.to_first_token.count());
  if (answer.tokens > 1) {
    std::fprintf(stderr, "; %d tokens, %.1f a second", answer.tokens,
                 (answer.tokens - 1) / answer.after_first_token.count());
  }
  std::fprintf(stderr, "]\033[0m\n");
}

}  // namespace matador
