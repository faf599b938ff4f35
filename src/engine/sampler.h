// Sampler: one row of logits and one sequence's parameters become a token. On the host, a few
// passes over the vocabulary; scratch memory is reused.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/logits.h"
#include "engine/logits_processor.h"
#include "engine/request.h"

namespace matador {

struct Sampled {
  int32_t token = -1;
  std::optional<TokenLogprobs> logprobs = {};
  std::string error = {};  // not empty: there is no token
};

// Everything the next token of a sequence depends on, beside its logits.
struct SamplingContext {
  const SamplingParams& params;
  const LogitsProcessor& processor;
  std::span<const int32_t> tokens;  // prompt and output
  std::span<const uint32_t> mask;   // of a constraint, or empty
  uint64_t seed = 0;
  int32_t choice = 0;
  int32_t position = 0;  // in the output
};

class Sampler {
 public:
  explicit Sampler(int32_t vocab_size) : processed_(vocab_size) {}

  Sampled sample(std::span<const float> logits, const SamplingContext& context);
  // Of log-softmax(logits): `token`'s and the `top` best. Logits must be finite or -infinity.
  TokenLogprobs logprobs(std::span<const float> logits, int32_t token, int32_t top);

 private:
  struct Peaked {  // logits to draw from, and the greatest of them
    std::span<const float> logits;
    float max = 0;
    float scale = 1;  // 1 / temperature
  };
  int32_t draw(const Peaked& row, const SamplingParams& params, double random);
  int32_t draw_any(const Peaked& row, double random);
  void gather_nucleus(const Peaked& row, float floor, float top_p);
  int32_t draw_candidate(double random);

  std::vector<float> processed_;
  std::vector<float> weights_;  // of a block of logits
  std::vector<double> block_mass_;
  std::vector<Candidate> candidates_;
};

}  // namespace matador
