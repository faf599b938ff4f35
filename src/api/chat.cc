// POST /v1/chat/completions
#include "api/call.h"
#include "api/call_constraint.h"
#include "api/chat_format.h"
#include "api/chat_prompt.h"
#include "api/field_reader.h"
#include "api/generation.h"
#include "api/generation_call.h"
#include "api/reasoning_request.h"
#include "api/tool_request.h"

namespace matador {
namespace {

struct ChatRequest {
  Generation generation;
  ChatPrompt prompt;
  ToolRequest tools;
  ReasoningRequest reasoning;
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
  in.unsupported("modalities", Json::array({"text"}));
  for (auto name : {"audio", "prediction", "verbosity", "web_search_options", "moderation",
                    "chat_template", "documents", "mm_processor_kwargs", "best_of"})
    in.unsupported(name);
}

ApiResult<ChatRequest> parse(std::string_view body, const ApiModel& model) {
  ApiResult<Json> json = parse_json_object(body);
  if (!json.ok()) return json.error();
  FieldReader in(*json);
  ChatRequest request;
  request.generation = read_generation(in, model);
  request.prompt = read_chat_prompt(in, model.control_tokens);
  request.tools = read_tools(in);
  request.reasoning = read_reasoning(in, model, request.prompt);
  if (const auto& wanted = request.generation.structured;
      wanted && request.tools.choice != ToolChoice::none)
    in.fail("tool_choice", "must be \"none\" where '" + wanted->field + "' is given");
  read_max_tokens(in, request.generation);
  read_logprobs(in, request);
  refuse_the_rest(in);
  in.refuse_unknown();
  if (in.error()) return *in.error();
  return request;
}

// How the answer's text is read. A named call has OpenAI's usual finish reason, "stop".
MessageOptions message_options(const ChatRequest& request, const ApiModel& model,
                               bool opens_reasoning) {
  const ToolRequest& tools = request.tools;
  MessageOptions options;
  options.syntax.reasoning = model.reasoning_format;
  options.syntax.reasoning_open = opens_reasoning;
  options.include_reasoning = request.reasoning.include;
  if (tools.choice == ToolChoice::none) return options;
  options.syntax.calls = model.call_format;
  options.syntax.tools = tools.callable;
  if (tools.choice != ToolChoice::named)
    options.call_finish_reason = tools.deprecated ? "function_call" : "tool_calls";
  return options;
}

int32_t count_calls(const Json& messages) {
  size_t count = 0;
  for (const Json& message : messages)
    if (auto calls = message.find("tool_calls"); calls != message.end()) count += calls->size();
  return static_cast<int32_t>(count);
}

ChatFormatOptions format_options(const ChatRequest& request, const ApiModel& model) {
  const Generation& g = request.generation;
  return {.model = g.model,
          .tokenizer = model.served->tokenizer,
          .logprobs = request.logprobs,
          .top_logprobs = request.top_logprobs,
          .include_usage = g.include_usage,
          .call_ids = CallIdMaker(model.call_format->ids, count_calls(request.prompt.messages)),
          .function_call = request.tools.deprecated};
}

}  // namespace

ApiResult<Call> prepare_chat(std::string_view body, const ApiModel& model) {
  ApiResult<ChatRequest> request = parse(body, model);
  if (!request.ok()) return request.error();
  Generation& g = request->generation;
  if (shows_tools(request->tools, model)) request->prompt.tools = request->tools.shown;
  bool continues = request->prompt.continue_final_message;
  std::vector<std::string> echoes;
  if (g.echo) echoes = {final_assistant_text(request->prompt)};
  auto format = make_chat_format(format_options(*request, model));
  auto prompt = encode_chat_prompt(std::move(request->prompt), model);
  if (!prompt.ok()) return prompt.error();
  if (auto error = fit_to_context(g, prompt->ids.size(), 0, model, "messages")) return *error;

  if (auto budget = request->reasoning.budget) {
    auto params = thinking_budget(*budget, prompt->opens_reasoning, model);
    if (!params.ok()) return params.error();
    g.params.thinking_budget = std::move(*params);
  }
  auto constraint = call_constraint(request->tools, prompt->opens_reasoning, model);
  if (!constraint.ok()) return constraint.error();

  AnswerOptions options = answer_options(g, model);
  options.continues_prompt = continues;
  options.scores = request->logprobs;
  options.message = message_options(*request, model, prompt->opens_reasoning);
  options.text.kept_special_tokens = request->tools.choice == ToolChoice::none
                                         ? model.reasoning_marks
                                         : model.call_and_reasoning_marks;
  auto call = make_call(g, {std::move(prompt->ids)}, model,
                        {std::move(options), std::move(echoes), std::move(format)});
  if (call.ok() && *constraint)
    for (Request& r : call->requests) r.constraint = *constraint;
  return call;
}

}  // namespace matador
