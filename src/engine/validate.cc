#include "engine/validate.h"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "backends/draws.h"

namespace matador {

namespace {

constexpr int32_t kMaxChoices = 1024;
constexpr int32_t kMaxLogprobs = kMaxTopLogprobs;
constexpr float kMost = std::numeric_limits<float>::max();

template <class T>
std::string text_of(T value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

// NaN is in no range.
template <class T>
Status in_range(std::string_view field, T value, T low, T high) {
  if (value >= low && value <= high) return {};
  std::string bounds = high == std::numeric_limits<T>::max()
                           ? "at least " + text_of(low)
                           : "between " + text_of(low) + " and " + text_of(high);
  return invalid_argument(std::string(field) + ": must be " + bounds + ", not " + text_of(value));
}

Status in_vocabulary(std::string_view field, std::span<const int32_t> tokens, int32_t size) {
  for (int32_t token : tokens) {
    if (token >= 0 && token < size) continue;
    return invalid_argument(std::string(field) + ": token id " + std::to_string(token) +
                            " is outside the vocabulary (0 to " + std::to_string(size - 1) + ")");
  }
  return {};
}

Status first_error(std::initializer_list<Status> checks) {
  for (const Status& status : checks) {
    if (!status.ok()) return status;
  }
  return {};
}

Status validate_length(const Request& request, int32_t max_model_len) {
  if (request.prompt.empty()) return invalid_argument("prompt: must have at least one token");
  size_t room = static_cast<size_t>(max_model_len) - (request.params.max_tokens > 0 ? 1 : 0);
  if (request.prompt.size() <= room) return {};
  return invalid_argument("prompt: its " + std::to_string(request.prompt.size()) +
                          " tokens are too many: this model's context holds " +
                          std::to_string(max_model_len) +
                          " tokens, of which at least one is for the answer");
}

Status validate_numbers(const SamplingParams& p) {
  constexpr int32_t kMostTokens = std::numeric_limits<int32_t>::max();
  return first_error({
      in_range("max_tokens", p.max_tokens, 0, kMostTokens),
      in_range("min_tokens", p.min_tokens, 0, p.max_tokens),
      in_range("temperature", p.temperature, 0.0F, kMost),
      in_range("top_p", p.top_p, std::numeric_limits<float>::min(), 1.0F),
      in_range("min_p", p.min_p, 0.0F, 1.0F),
      in_range("repetition_penalty", p.repetition_penalty, std::numeric_limits<float>::min(),
               kMost),
      in_range("presence_penalty", p.presence_penalty, -2.0F, 2.0F),
      in_range("frequency_penalty", p.frequency_penalty, -2.0F, 2.0F),
      in_range("logprobs", p.logprobs.value_or(0), 0, kMaxLogprobs),
      in_range("prompt_logprobs", p.prompt_logprobs.value_or(0), 0, kMaxLogprobs),
  });
}

Status validate_tokens(const SamplingParams& p, int32_t vocab_size) {
  for (auto [token, bias] : p.logit_bias) {
    Status status = first_error({in_vocabulary("logit_bias", {&token, 1}, vocab_size),
                                 in_range("logit_bias", bias, -100.0F, 100.0F)});
    if (!status.ok()) return status;
  }
  for (const std::vector<int32_t>& word : p.bad_words) {
    if (word.empty()) return invalid_argument("bad_words: a word must have at least one token");
    if (Status status = in_vocabulary("bad_words", word, vocab_size); !status.ok()) return status;
  }
  return first_error({in_vocabulary("allowed_token_ids", p.allowed_token_ids, vocab_size),
                      in_vocabulary("stop_token_ids", p.stop_token_ids, vocab_size)});
}

}  // namespace

Status validate(const Request& request, const RequestBounds& bounds) {
  if (request.sink == nullptr) return invalid_argument("sink: none given");
  return first_error({validate_length(request, bounds.max_model_len),
                      in_vocabulary("prompt", request.prompt, bounds.vocab_size),
                      in_range("n", request.n, 1, kMaxChoices), validate_numbers(request.params),
                      validate_tokens(request.params, bounds.vocab_size)});
}

}  // namespace matador
