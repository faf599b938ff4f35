#include "engine/logits_processor.h"

#include <algorithm>
#include <utility>

#include "engine/logits.h"

namespace matador {

namespace {

// A set bit stays.
void ban_masked(std::span<const uint32_t> mask, std::span<float> out) {
  for (size_t word = 0; word < mask.size(); ++word) {
    if (mask[word] == ~uint32_t{0}) continue;
    size_t begin = word * 32, end = std::min(begin + 32, out.size());
    for (size_t token = begin; token < end; ++token) {
      if ((mask[word] >> (token - begin) & 1) == 0) out[token] = kBanned;
    }
  }
}

}  // namespace

LogitsProcessor::LogitsProcessor(const SamplingParams& params, std::span<const int32_t> prompt,
                                 std::vector<int32_t> stop_tokens)
    : params_(&params),
      stop_tokens_(std::move(stop_tokens)),
      penalizes_(params.repetition_penalty != 1 || params.presence_penalty != 0 ||
                 params.frequency_penalty != 0) {
  if (params.thinking_budget) thinking_budget_.emplace(*params.thinking_budget);
  if (params.repetition_penalty == 1) return;
  for (int32_t token : prompt) count_of(token);
}

LogitsProcessor::Count& LogitsProcessor::count_of(int32_t token) {
  auto [entry, fresh] = positions_.try_emplace(token, counts_.size());
  if (fresh) counts_.push_back({token, 0});
  return counts_[entry->second];
}

void LogitsProcessor::observe(int32_t token) {
  ++num_generated_;
  if (thinking_budget_) thinking_budget_->observe(token);
  if (penalizes_) ++count_of(token).generated;
}

bool LogitsProcessor::is_stop(int32_t token) const {
  return !bans_stops() && std::ranges::find(stop_tokens_, token) != stop_tokens_.end();
}

std::optional<int32_t> LogitsProcessor::forced() const {
  return thinking_budget_ ? thinking_budget_->forced() : std::nullopt;
}

bool LogitsProcessor::active() const {
  return forced() || penalizes_ || !params_->logit_bias.empty() ||
         !params_->allowed_token_ids.empty() || !params_->bad_words.empty() ||
         (bans_stops() && !stop_tokens_.empty());
}

bool LogitsProcessor::depends_on_output() const {
  return thinking_budget_ || penalizes_ || !params_->bad_words.empty() || bans_stops();
}

template <class Ban>
void LogitsProcessor::each_banned(std::span<const int32_t> tokens, Ban ban) const {
  for (const std::vector<int32_t>& word : params_->bad_words) {
    auto beginning = std::span(word).first(word.size() - 1);
    if (beginning.size() > tokens.size()) continue;
    if (std::ranges::equal(tokens.last(beginning.size()), beginning)) ban(word.back());
  }
  if (!bans_stops()) return;
  for (int32_t token : stop_tokens_) ban(token);
}

void LogitsProcessor::process(std::span<const float> logits, std::span<const int32_t> tokens,
                              std::span<const uint32_t> mask, std::span<float> out) const {
  if (auto token = forced()) {
    std::ranges::fill(out, kBanned);
    out[*token] = 0;
    return;
  }
  if (params_->allowed_token_ids.empty()) {
    std::ranges::copy(logits, out.begin());
  } else {
    std::ranges::fill(out, kBanned);
    for (int32_t token : params_->allowed_token_ids) out[token] = logits[token];
  }
  ban_masked(mask, out);
  each_banned(tokens, [&](int32_t token) { out[token] = kBanned; });
  for (auto [token, bias] : params_->logit_bias) out[token] += bias;
  if (penalizes_) penalize(out);
}

void LogitsProcessor::append_edits(std::span<const int32_t> tokens,
                                   std::vector<LogitEdit>& edits) const {
  std::unordered_map<int32_t, size_t> places;
  const auto edit_of = [&](int32_t token) -> LogitEdit& {
    auto [entry, fresh] = places.try_emplace(token, edits.size());
    if (fresh) edits.push_back({.token = token});
    return edits[entry->second];
  };
  each_banned(tokens, [&](int32_t token) { edit_of(token).bias = kBanned; });
  for (auto [token, bias] : params_->logit_bias) edit_of(token).bias += bias;
  if (!penalizes_) return;
  for (const Count& count : counts_) edit_of(count.token).count = count.generated;
}

void LogitsProcessor::penalize(std::span<float> out) const {
  for (const Count& count : counts_) {
    float& logit = out[count.token];
    float repetition = params_->repetition_penalty;
    logit = logit > 0 ? logit / repetition : logit * repetition;
    if (count.generated == 0) continue;
    logit -= params_->frequency_penalty * static_cast<float>(count.generated);
    logit -= params_->presence_penalty;
  }
}

}  // namespace matador
