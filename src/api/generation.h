// Generation: the fields that chat and completions share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/api_model.h"
#include "api/structured_output.h"
#include "engine/request.h"

namespace matador {

class FieldReader;

inline constexpr int32_t kMaxChoices = 128;  // n, best_of
inline constexpr int32_t kMaxLogprobs = 20;
inline constexpr size_t kMaxStopStrings = 64;
inline constexpr size_t kMaxBadWords = 1024;

struct Generation {
  std::string model;
  // Complete but for max_tokens, bad_words (which need the tokenizer) and logprobs.
  SamplingParams params;
  std::optional<int32_t> max_tokens;
  int32_t n = 1;
  std::vector<std::string> stop;
  std::vector<std::string> bad_words;
  bool include_stop_str_in_output = false;
  bool skip_special_tokens = true;
  bool add_special_tokens = false;
  bool echo = false;
  bool return_token_ids = false;
  bool stream = false;
  bool include_usage = false;                  // a last chunk with the usage
  bool continuous_usage_stats = false;         // and usage so far in every chunk
  std::optional<StructuredOutput> structured;  // what the answer must look like
  int32_t priority = 0;
  std::string cache_salt;
};

// Reads and checks them; the first fault stays in `fields`.
Generation read_generation(FieldReader& fields, const ApiModel& model);

// Fills in what depends on the prompt's length: params.max_tokens (`otherwise` where the request
// has none; 0: all that fits) and the error of a prompt that does not fit.
std::optional<ApiError> fit_to_context(Generation& generation, size_t prompt_tokens,
                                       int32_t otherwise, const ApiModel& model,
                                       const char* prompt_field);

// The token sequences of bad_words: each word as a text begins with it and as it follows a space.
Result<std::vector<std::vector<int32_t>>> encode_bad_words(const std::vector<std::string>& words,
                                                           const Tokenizer& tokenizer);

}  // namespace matador
