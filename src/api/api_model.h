// ApiModel: what the API needs to know of the served model. Immutable; any thread may use it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/control_tokens.h"
#include "api/error.h"
#include "dialects/format.h"
#include "engine/served_model.h"

namespace matador {

// How the model writes calls and reasoning; names of formats, or "": what its template shows.
struct DialectOptions {
  std::string tool_call_parser;
  std::string reasoning_parser;   // "none": nothing is reasoning
  bool tools_in_template = true;  // false: the caller's messages describe the tools
};

struct ApiModel {
  // `names`: what requests may call it; empty: its path. Fails on defaults out of range and on
  // unknown formats.
  static Result<std::shared_ptr<const ApiModel>> make(ServedModel& served,
                                                      std::vector<std::string> names,
                                                      bool parse_special_tokens_in_messages,
                                                      const DialectOptions& dialect = {});

  ServedModel* served = nullptr;  // outlives this
  std::vector<std::string> names;
  int64_t created = 0;  // Unix seconds
  // Ids below it exist both in the logits and in the tokenizer; padding makes them differ.
  int32_t vocab_size = 0;
  int32_t max_model_len = 0;
  // generation_config's temperature, top_p, top_k, min_p and repetition_penalty where it has
  // them, OpenAI's elsewhere. As vLLM does, `do_sample` is not looked at.
  SamplingParams defaults;
  ControlTokens control_tokens;
  bool parse_special_tokens_in_messages = false;

  const CallFormat* call_format = nullptr;            // never null once made
  const ReasoningFormat* reasoning_format = nullptr;  // null: the model does not reason
  bool tools_in_template = true;
  // Special tokens that are marks of these formats, ascending: their text is read, not skipped.
  std::vector<int32_t> reasoning_marks, call_and_reasoning_marks;

  const std::string& name() const { return names.front(); }
  bool knows(std::string_view name) const;
};

// GET /v1/models and /v1/models/{id}.
std::string models_body(const ApiModel& model);
ApiResult<std::string> model_body(const ApiModel& model, std::string_view id);

// 404 model_not_found unless the model goes by this name.
std::optional<ApiError> check_model_name(const ApiModel& model, std::string_view name);

}  // namespace matador
