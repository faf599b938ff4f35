// LogitsProcessor: what one sequence's parameters do to its logits before sampling. It remembers
// the counts that penalties need, updated token by token.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/draws.h"
#include "engine/request.h"

namespace matador {

class LogitsProcessor {
 public:
  // `params` must outlive it. `stop_tokens` are banned until min_tokens are generated.
  LogitsProcessor(const SamplingParams& params, std::span<const int32_t> prompt,
                  std::vector<int32_t> stop_tokens);

  // A token was generated.
  void observe(int32_t token);
  bool is_stop(int32_t token) const;
  // Whether process() needs to know every token generated before.
  bool depends_on_output() const;
  // Whether process() would change anything for the next token, without a mask.
  bool active() const;
  // The one token that may come next, whatever else is asked for.
  std::optional<int32_t> forced() const;
  // What process() does where nothing is forced, as edits for a device: appended to `edits`, each
  // token once. They do not say which tokens allowed_token_ids and a mask leave.
  void append_edits(std::span<const int32_t> tokens, std::vector<LogitEdit>& edits) const;
  // `tokens`: prompt and output so far. `mask`: a constraint's (engine/token_mask.h), or empty. out
  // may not overlap logits.
  void process(std::span<const float> logits, std::span<const int32_t> tokens,
               std::span<const uint32_t> mask, std::span<float> out) const;

 private:
  struct Count {
    int32_t token = 0;
    int32_t generated = 0;  // 0: in the prompt only
  };
  bool bans_stops() const { return num_generated_ < params_->min_tokens; }
  // Calls ban(token) for each that may not come next.
  template <class Ban>
  void each_banned(std::span<const int32_t> tokens, Ban ban) const;
  void penalize(std::span<float> out) const;
  Count& count_of(int32_t token);

  const SamplingParams* params_;
  std::optional<SpanBudget> thinking_budget_;
  std::vector<int32_t> stop_tokens_;
  int32_t num_generated_ = 0;
  bool penalizes_;
  std::vector<Count> counts_;                      // of each token seen, when penalties want them
  std::unordered_map<int32_t, size_t> positions_;  // token -> index in counts_
};

}  // namespace matador
