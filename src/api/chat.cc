// POST /v1/chat/completions
#include "api/call.h"
#include "api/chat_format.h"
#include "api/chat_prompt.h"
#include "api/field_reader.h"
#include "api/generation.h"
#include "api/generation_call.h"

namespace matador {
namespace {

struct ChatRequest {
  Generation generation;
  ChatPrompt prompt;
  bool logprobs = false;
  int32_t top_logprobs = 0;
};

void read_max_tokens(FieldReader& in, Generation& g) {
  auto old_name = in.integer_at_most("max_tokens", 1, INT32_MAX);
  auto new_name = in.integer_at_most("max_completion_tokens", 1, INT32_MAX);
  if (auto x = new_name ? new_name : old_name) g.max_tokens = static_cast<int32_t>(*x);
}

void read_logprobs(FieldReader& in, ChatRequest& request) {
  request.logprobs = in.boolean("logprobs").value_or(false);
  auto top = in.integer("top_logprobs", 0, kMaxLogprobs);
  if (top && *top > 0 && !request.logprobs)
    in.fail("top_logprobs", "is only allowed when 'logprobs' is true");
  request.top_logprobs = static_cast<int32_t>(top.value_or(0));
  if (request.logprobs) request.generation.params.logprobs = request.top_logprobs;
}

// Parts of OpenAI's chat route that need what is not here.
void refuse_the_rest(FieldReader& in) {
  in.unsupported("tools", Json::array());
  in.unsupported("tool_choice", "none");
  in.unsupported("modalities", Json::array({"text"}));
  for (auto name :
       {"functions", "function_call", "parallel_tool_calls", "audio", "prediction",
        "reasoning_effort", "verbosity", "web_search_options", "moderation", "chat_template",
        "documents", "mm_processor_kwargs", "best_of", "include_reasoning"})
    in.unsupported(name);
}

ApiResult<ChatRequest> parse(std::string_view body, const ApiModel& model) {
  ApiResult<Json> json = parse_json_object(body);
  if (!json.ok()) return json.error();
  FieldReader in(*json);
  ChatRequest request;
  request.generation = read_generation(in, model);
  request.prompt = read_chat_prompt(in, model.control_tokens);
  read_max_tokens(in, request.generation);
  read_logprobs(in, request);
  refuse_the_rest(in);
  in.refuse_unknown();
  if (in.error()) return *in.error();
  return request;
}

}  // namespace

ApiResult<Call> prepare_chat(std::string_view body, const ApiModel& model) {
  ApiResult<ChatRequest> request = parse(body, model);
  if (!request.ok()) return request.error();
  Generation& g = request->generation;
  bool continues = request->prompt.continue_final_message;
  std::vector<std::string> echoes;
  if (g.echo) echoes = {final_assistant_text(request->prompt)};
  auto ids = encode_chat_prompt(std::move(request->prompt), model);
  if (!ids.ok()) return ids.error();
  if (auto error = fit_to_context(g, ids->size(), 0, model, "messages")) return *error;

  AnswerOptions options = answer_options(g, model);
  options.continues_prompt = continues;
  options.scores = request->logprobs;
  auto format = make_chat_format({.model = g.model,
                                  .tokenizer = model.served->tokenizer,
                                  .logprobs = request->logprobs,
                                  .top_logprobs = request->top_logprobs,
                                  .include_usage = g.include_usage});
  return make_call(g, {std::move(*ids)}, model,
                   {std::move(options), std::move(echoes), std::move(format)});
}

}  // namespace matador
