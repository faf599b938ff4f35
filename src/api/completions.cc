// POST /v1/completions
#include <algorithm>

#include "api/call.h"
#include "api/completion_format.h"
#include "api/field_reader.h"
#include "api/generation.h"
#include "api/generation_call.h"

namespace matador {
namespace {

constexpr size_t kMaxPrompts = 2048;
constexpr int32_t kDefaultMaxTokens = 16;  // OpenAI's

// Text to be tokenised, or the tokens.
struct Prompt {
  std::string text;
  std::vector<int32_t> ids;
  bool is_text = false;
};

struct CompletionRequest {
  Generation generation;
  std::vector<Prompt> prompts;
  int32_t best_of = 1;
  std::optional<int32_t> logprobs;
};

void read_prompts(FieldReader& in, int32_t vocab_size, std::vector<Prompt>& prompts) {
  const Json* found = in.value("prompt");
  if (in.error()) return;
  if (!found) return in.fail("prompt", "is required", "missing_required_parameter");
  if (found->is_string()) return prompts.push_back({found->get<std::string>(), {}, true});
  if (!found->is_array() || found->empty())
    return in.fail("prompt",
                   "must be a string, an array of strings, of token ids, or of arrays "
                   "of token ids, and not empty; found " +
                       describe_json(*found));
  if (found->front().is_number()) {
    if (auto ids = in.token_ids("prompt", vocab_size)) prompts.push_back({"", *ids, false});
    return;
  }
  if (found->size() > kMaxPrompts)
    return in.fail("prompt", "must have at most " + std::to_string(kMaxPrompts) + " prompts");
  for (size_t i = 0; i < found->size() && !in.error(); ++i) {
    const Json& item = (*found)[i];
    if (item.is_string() && found->front().is_string()) {
      prompts.push_back({item.get<std::string>(), {}, true});
    } else if (item.is_array() && found->front().is_array()) {
      std::string name = "prompt[" + std::to_string(i) + "]";
      Json holder = {{name, item}};
      FieldReader inner(holder);
      if (auto ids = inner.token_ids(name, vocab_size)) prompts.push_back({"", *ids, false});
      if (inner.error()) in.fail(*inner.error());
    } else {
      in.fail("prompt", "must not mix kinds, found " + describe_json(item) + " after " +
                            describe_json(found->front()));
    }
  }
}

void read_best_of(FieldReader& in, CompletionRequest& request) {
  const Generation& g = request.generation;
  request.best_of = g.n;
  auto best_of = in.integer("best_of", 1, kMaxChoices);
  if (!best_of) return;
  if (*best_of < g.n)
    in.fail("best_of",
            "must be at least n = " + std::to_string(g.n) + ", found " + std::to_string(*best_of));
  if (*best_of > g.n && g.stream) in.fail("best_of", "must equal n when 'stream' is true");
  request.best_of = static_cast<int32_t>(*best_of);
}

ApiResult<CompletionRequest> parse(std::string_view body, const ApiModel& model) {
  ApiResult<Json> json = parse_json_object(body);
  if (!json.ok()) return json.error();
  FieldReader in(*json);
  CompletionRequest request;
  Generation& g = request.generation;
  g = read_generation(in, model);
  read_prompts(in, model.vocab_size, request.prompts);
  read_best_of(in, request);
  if (auto x = in.integer_at_most("max_tokens", 0, INT32_MAX))
    g.max_tokens = static_cast<int32_t>(*x);
  if (auto x = in.integer("logprobs", 0, kMaxLogprobs)) {
    request.logprobs = static_cast<int32_t>(*x);
    g.params.logprobs = request.logprobs;
  }
  g.add_special_tokens = in.boolean("add_special_tokens").value_or(true);
  in.unsupported("suffix", "");
  in.unsupported("prompt_embeds");
  in.refuse_unknown();
  if (in.error()) return *in.error();
  return request;
}

ApiResult<std::vector<std::vector<int32_t>>> encode_prompts(std::vector<Prompt>& prompts,
                                                            const Generation& g,
                                                            const Tokenizer& tokenizer) {
  std::vector<std::vector<int32_t>> all;
  for (Prompt& prompt : prompts) {
    if (prompt.is_text) {
      auto ids = tokenizer.encode(prompt.text, {.add_special_tokens = g.add_special_tokens});
      if (!ids.ok()) return to_api_error(ids.error());
      prompt.ids = std::move(*ids);
    }
    if (prompt.ids.empty()) return field_error("prompt", "must have at least one token");
    all.push_back(prompt.ids);
  }
  return all;
}

std::vector<std::string> echoed(const std::vector<Prompt>& prompts, const Generation& g,
                                const Tokenizer& tokenizer) {
  std::vector<std::string> echoes;
  for (const Prompt& prompt : prompts)
    echoes.push_back(prompt.is_text ? prompt.text
                                    : tokenizer.decode(prompt.ids, g.skip_special_tokens));
  return echoes;
}

}  // namespace

ApiResult<Call> prepare_completion(std::string_view body, const ApiModel& model) {
  ApiResult<CompletionRequest> request = parse(body, model);
  if (!request.ok()) return request.error();
  if (!model.served->tokenizer)
    return ApiError{.message = "The model has no tokenizer", .code = "no_tokenizer"};
  Generation& g = request->generation;
  const Tokenizer& tokenizer = *model.served->tokenizer;
  auto ids = encode_prompts(request->prompts, g, tokenizer);
  if (!ids.ok()) return ids.error();

  size_t longest = 0;
  for (const auto& prompt : *ids) longest = std::max(longest, prompt.size());
  if (auto error = fit_to_context(g, longest, kDefaultMaxTokens, model, "prompt")) return *error;

  AnswerOptions options = answer_options(g, model);
  options.best_of = request->best_of;
  options.continues_prompt = true;
  options.scores = request->logprobs.has_value();
  options.echo_scores = g.echo && options.scores;
  // Ranking needs the tokens' scores, an echo those of the prompt.
  if (request->best_of > g.n && !g.params.logprobs) g.params.logprobs = 0;
  if (options.echo_scores)
    g.params.prompt_logprobs = std::max(g.params.prompt_logprobs.value_or(0), *request->logprobs);
  auto echoes = g.echo ? echoed(request->prompts, g, tokenizer) : std::vector<std::string>();
  auto format = make_completion_format({.model = g.model,
                                        .tokenizer = model.served->tokenizer,
                                        .logprobs = request->logprobs,
                                        .include_usage = g.include_usage});
  return make_call(g, std::move(*ids), model,
                   {std::move(options), std::move(echoes), std::move(format)});
}

}  // namespace matador
