// What chat and completions print alike. Internal to this room.
#pragma once

#include <string>

#include "api/answer.h"
#include "api/json.h"

namespace matador {

// Identity of one response; the same in all its chunks.
struct ResponseHead {
  std::string id;       // "chatcmpl-..."
  int64_t created = 0;  // Unix seconds
  std::string model;    // as the request called it

  static ResponseHead make(const std::string& id_prefix, std::string model);
  Json json(const char* object) const;
};

// A page of objects that have ids.
std::string list_body(Json data, bool has_more);

Json usage_json(const Usage& usage);
// Adds "usage": null, or the usage so far, to a chunk of a stream that was asked for it.
void add_chunk_usage(Json& chunk, bool include_usage, const Usage* so_far);

// JSON has no infinities: a token that cannot come has -9999, as in vLLM.
double json_logprob(float logprob);
// A token alone as text; what is not UTF-8 becomes U+FFFD.
std::string token_string(const Tokenizer& tokenizer, int32_t token);

// vLLM's prompt_logprobs: null, then a map from token id for each further prompt token.
Json prompt_logprobs_json(const std::vector<TokenScore>& scores, const Tokenizer& tokenizer);

}  // namespace matador
