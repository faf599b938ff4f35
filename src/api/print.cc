#include "api/print.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "core/random_id.h"

namespace matador {

ResponseHead ResponseHead::make(const std::string& id_prefix, std::string model) {
  return {random_id(id_prefix), std::time(nullptr), std::move(model)};
}

Json ResponseHead::json(const char* object) const {
  return {{"id", id}, {"object", object}, {"created", created}, {"model", model}};
}

std::string list_body(Json data, bool has_more) {
  auto id_of = [](const Json& list, size_t i) { return list.empty() ? Json() : list[i]["id"]; };
  Json first = id_of(data, 0), last = id_of(data, data.empty() ? 0 : data.size() - 1);
  return dump_json({{"object", "list"},
                    {"data", std::move(data)},
                    {"first_id", std::move(first)},
                    {"last_id", std::move(last)},
                    {"has_more", has_more}});
}

Json usage_json(const Usage& usage) {
  Json json = {{"prompt_tokens", usage.prompt_tokens},
               {"completion_tokens", usage.completion_tokens},
               {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
               {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}}};
  if (usage.reasoning_tokens)
    json["completion_tokens_details"] = {{"reasoning_tokens", *usage.reasoning_tokens}};
  return json;
}

void add_chunk_usage(Json& chunk, bool include_usage, const Usage* so_far) {
  if (so_far)
    chunk["usage"] = usage_json(*so_far);
  else if (include_usage)
    chunk["usage"] = nullptr;
}

double json_logprob(float logprob) {
  constexpr double kLowest = -9999;
  return std::isnan(logprob) ? kLowest : std::max(kLowest, static_cast<double>(logprob));
}

std::string token_string(const Tokenizer& tokenizer, int32_t token) {
  return replace_invalid_utf8(tokenizer.token_bytes(token));
}

Json prompt_logprobs_json(const std::vector<TokenScore>& scores, const Tokenizer& tokenizer) {
  Json all = Json::array();
  for (const TokenScore& score : scores) {
    if (!score.logprobs) {
      all.push_back(nullptr);
      continue;
    }
    Json candidates = Json::object();
    auto add = [&](const Logprob& candidate) {
      candidates[std::to_string(candidate.token)] = {
          {"logprob", json_logprob(candidate.logprob)},
          {"rank", candidate.rank},
          {"decoded_token", token_string(tokenizer, candidate.token)}};
    };
    add(score.logprobs->chosen);
    for (const Logprob& candidate : score.logprobs->top) add(candidate);
    all.push_back(std::move(candidates));
  }
  return all;
}

}  // namespace matador
