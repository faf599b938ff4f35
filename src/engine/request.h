// What the API asks of the engine, and what it gets back.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "engine/constraint.h"
#include "engine/span_budget.h"

namespace matador {

// Applied in this order: allowed_token_ids, the constraint, bad_words, min_tokens (bans stops),
// logit_bias, penalties, temperature, min_p, top_k, top_p. Logprobs are of the raw logits'
// log-softmax.
struct SamplingParams {
  int32_t max_tokens = 16;
  int32_t min_tokens = 0;
  float temperature = 1;  // 0: greedy
  int32_t top_k = 0;      // <= 0: all
  float top_p = 1;
  float min_p = 0;
  float repetition_penalty = 1;  // prompt and output tokens; > 0
  float presence_penalty = 0;    // output tokens, as OpenAI defines them
  float frequency_penalty = 0;
  std::vector<std::pair<int32_t, float>> logit_bias = {};
  std::vector<int32_t> allowed_token_ids = {};       // empty: all
  std::vector<std::vector<int32_t>> bad_words = {};  // token sequences never completed
  std::vector<int32_t> stop_token_ids = {};          // beside the model's EOS tokens
  bool ignore_eos = false;
  std::optional<uint64_t> seed = {};     // choice i of n draws from (seed, i)
  std::optional<int32_t> logprobs = {};  // 0: the chosen token's only; n: n best too
  std::optional<int32_t> prompt_logprobs = {};
  std::optional<SpanBudgetParams> thinking_budget = {};  // what it forces goes before all else
};

struct Logprob {
  int32_t token = 0;
  float logprob = 0;
  int32_t rank = 0;  // 1: the most likely
};
struct TokenLogprobs {
  Logprob chosen;
  std::vector<Logprob> top;  // most likely first
};

using TimePoint = std::chrono::steady_clock::time_point;

enum class FinishReason : uint8_t { stop, length, aborted, error };

struct Event {
  enum class Kind : uint8_t {
    prompt_done,  // once a request, before its first token
    token,
    finished,  // once a choice; nothing of that choice follows
  };
  Kind kind = Kind::token;
  int32_t choice = 0;
  TimePoint time = {};  // of the end of the step that brought it
  // token
  int32_t token = -1;
  std::optional<TokenLogprobs> logprobs = {};
  // prompt_done
  int32_t num_cached_tokens = 0;
  TimePoint queued = {}, scheduled = {};  // when it was submitted, and first had room to run
  std::vector<TokenLogprobs> prompt_logprobs = {};  // for prompt tokens 1.. where asked for
  // finished
  FinishReason reason = FinishReason::stop;
  int32_t stop_token = -1;  // the stop or EOS token that ended it; it was sent as a token
  std::string error = {};   // FinishReason::error
};

inline Event finished_event(FinishReason reason, std::string error = "") {
  Event event{.kind = Event::Kind::finished};
  event.reason = reason;
  event.error = std::move(error);
  return event;
}

// Receives a request's events, in order, on the engine's thread. Must not block or throw.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void push(Event event) = 0;
};

struct Request {
  std::vector<int32_t> prompt;
  SamplingParams params;
  int32_t n = 1;         // choices, sharing the prompt's blocks
  int64_t priority = 0;  // lower runs first, as in vLLM
  // Whose it is: among requests of equal priority, tenants get tokens by their weights.
  std::string tenant = {};
  double weight = 1;       // > 0
  std::string cache_salt;  // prefix blocks are shared only between equal salts
  // What each choice must look like; null: anything. A complete choice ends with `stop`, whatever
  // min_tokens and ignore_eos say.
  std::shared_ptr<const Constraint> constraint = {};
  std::shared_ptr<EventSink> sink;
  TimePoint queued = {};  // set by Engine::submit
};

using RequestId = uint64_t;

}  // namespace matador
