// Draws: how a step's tokens are chosen from its logits, as plain arrays, for devices that do it
// themselves. What the numbers mean is said in engine/request.h (SamplingParams).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace matador {

// A logit is changed to penalised(logit + bias). Each token at most once a draw.
struct LogitEdit {
  int32_t token = 0;
  float bias = 0;      // -infinity bans
  int32_t count = -1;  // times it was generated, for the penalties; -1: it is not penalised
};

struct TokenDraw {
  double random = 0;      // uniform in [0, 1)
  int32_t row = 0;        // of the logits
  int32_t given = -1;     // nothing is drawn: the logprobs of this token are wanted
  float temperature = 0;  // 0: the likeliest
  // What the likeliest's logit plus this is below is out (min_p).
  float floor = -std::numeric_limits<float>::infinity();
  int32_t top_k = 0;  // 0: all
  float top_p = 1;
  float repetition_penalty = 1, frequency_penalty = 0, presence_penalty = 0;
  int32_t first_edit = 0, num_edits = 0;  // of Draws::edits
  int32_t mask = -1;                      // of Draws::masks: tokens whose bit is 0 are banned
  int32_t num_top = -1;  // logprobs of the chosen token and of this many best; -1: none
  int32_t unused = 0;    // to a whole number of 8 bytes
};
constexpr int32_t kMaxTopLogprobs = 128;  // of num_top

struct Draws {
  std::span<const TokenDraw> draws;
  std::span<const LogitEdit> edits;
  std::span<const uint32_t> masks;  // mask_words a mask, token t at bit t % 32 of word t / 32
  int32_t mask_words = 0;
  bool logprobs = false;  // any draw wants some
};

struct DrawnLogprob {
  int32_t token = 0;
  float logprob = 0;
  int32_t rank = 0;
};
// On the host.
struct DrawResults {
  static constexpr int32_t kNotFinite = -1;  // instead of a token: a logit is NaN or infinite
  static constexpr int32_t kNoneLeft = -2;   // every token is banned
  static constexpr size_t kLogprobs = 1 + kMaxTopLogprobs;
  std::span<const int32_t> tokens;
  // [draws, kLogprobs], the chosen token's, then the best; empty where no draw wanted any.
  std::span<const DrawnLogprob> logprobs;
};

}  // namespace matador
