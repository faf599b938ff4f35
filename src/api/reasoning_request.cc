#include "api/reasoning_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/field_reader.h"

namespace matador {
namespace {

void read_effort(FieldReader& in, const ApiModel& model, Json& kwargs) {
  constexpr std::array kEfforts = {"none", "minimal", "low", "medium", "high", "xhigh"};
  const auto effort = in.text("reasoning_effort");
  if (!effort) return;
  if (std::find(kEfforts.begin(), kEfforts.end(), *effort) == kEfforts.end())
    return in.fail("reasoning_effort",
                   "must be \"none\", \"minimal\", \"low\", \"medium\", \"high\" or \"xhigh\", "
                   "found " +
                       describe_json(*effort));
  const auto& chat_template = model.served->chat_template;
  auto knows = [&](std::string_view name) {
    return chat_template && chat_template->source().find(name) != std::string::npos;
  };
  auto set = [&](const char* name, Json value) {
    if (kwargs.contains(name))
      in.fail("reasoning_effort",
              "must not be given beside chat_template_kwargs." + std::string(name));
    kwargs[name] = std::move(value);
  };
  if (knows("reasoning_effort")) return set("reasoning_effort", *effort);
  if (knows("enable_thinking")) return set("enable_thinking", *effort != "none");
  in.fail("reasoning_effort",
          "is not supported: the model's chat template knows neither reasoning_effort nor "
          "enable_thinking",
          "unsupported_parameter");
}

}  // namespace

ReasoningRequest read_reasoning(FieldReader& in, const ApiModel& model, ChatPrompt& prompt) {
  read_effort(in, model, prompt.template_kwargs);
  ReasoningRequest request;
  request.include = in.boolean("include_reasoning").value_or(true);
  if (auto x = in.integer_at_most("thinking_token_budget", 0, INT32_MAX)) {
    if (!model.reasoning_format)
      in.fail("thinking_token_budget", "is not supported: the model does not reason",
              "unsupported_parameter");
    request.budget = static_cast<int32_t>(*x);
  }
  return request;
}

ApiResult<SpanBudgetParams> thinking_budget(int32_t max_tokens, bool open, const ApiModel& model) {
  SpanBudgetParams params{.max_tokens = max_tokens, .begin = {}, .end = {}, .open = open};
  const ReasoningFormat& format = *model.reasoning_format;
  for (auto [mark, ids] : {std::pair(format.open, &params.begin), {format.close, &params.end}}) {
    auto encoded = model.served->tokenizer->encode(mark, {.add_special_tokens = false});
    if (!encoded.ok()) return to_api_error(encoded.error());
    *ids = std::move(*encoded);
  }
  return params;
}

}  // namespace matador
