#include "api/generation_call.h"

namespace matador {

AnswerOptions answer_options(const Generation& g, const ApiModel& model) {
  AnswerOptions options;
  options.text = {.skip_special_tokens = g.skip_special_tokens,
                  .stop = g.stop,
                  .include_stop_str_in_output = g.include_stop_str_in_output,
                  .stop_token_ids = g.params.stop_token_ids,
                  .min_tokens = g.params.min_tokens};
  const auto& eos = model.served->eos_token_ids;
  if (!g.params.ignore_eos)
    options.text.stop_token_ids.insert(options.text.stop_token_ids.end(), eos.begin(), eos.end());
  options.n = g.n;
  options.best_of = g.n;
  options.stream = g.stream;
  options.include_usage = g.include_usage;
  options.continuous_usage_stats = g.continuous_usage_stats;
  options.prompt_scores = g.params.prompt_logprobs.has_value();
  options.return_token_ids = g.return_token_ids;
  return options;
}

ApiResult<Call> make_call(const Generation& g, std::vector<std::vector<int32_t>> prompts,
                          const ApiModel& model, AnswerPlan plan) {
  SamplingParams params = g.params;
  auto bad_words = encode_bad_words(g.bad_words, *model.served->tokenizer);
  if (!bad_words.ok()) return to_api_error(bad_words.error());
  params.bad_words = std::move(*bad_words);

  std::shared_ptr<const Constraint> constraint;
  if (g.structured) {
    auto compiled = compile_constraint(*g.structured, model);
    if (!compiled.ok()) return compiled.error();
    constraint = std::move(*compiled);
  }

  Call call;
  for (const std::vector<int32_t>& prompt : prompts) {
    Request request;
    request.prompt = prompt;
    request.params = params;
    request.n = plan.options.best_of;
    request.priority = g.priority;
    request.cache_salt = g.cache_salt;
    request.constraint = constraint;
    call.requests.push_back(std::move(request));
  }
  call.answer =
      std::make_unique<Answer>(model.served->tokenizer, std::move(plan.options), std::move(prompts),
                               std::move(plan.echoes), std::move(plan.format));
  return call;
}

}  // namespace matador
