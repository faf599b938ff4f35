#include "api/call_constraint.h"

#include <string>
#include <utility>

#include "dialects/call_grammar.h"
#include "engine/grammars.h"

namespace matador {
namespace {

std::vector<MarkToken> mark_tokens(const ApiModel& model) {
  std::vector<MarkToken> marks;
  for (int32_t id : model.call_and_reasoning_marks)
    marks.push_back({std::string(model.served->tokenizer->token_text(id)), id});
  return marks;
}

ApiError unusable(const Error& error) {
  return {.message = "tools: " + error.message, .param = "tools", .code = "invalid_schema"};
}

}  // namespace

ApiResult<std::shared_ptr<const Constraint>> call_constraint(const ToolRequest& tools,
                                                             bool opens_reasoning,
                                                             const ApiModel& model) {
  std::shared_ptr<const Constraint> none;
  if (tools.choice == ToolChoice::none || !model.served->grammars) return none;
  CallGrammar grammar;
  grammar.calls = model.call_format;
  grammar.reasoning = model.reasoning_format;
  grammar.reasoning_open = opens_reasoning;
  grammar.tools = tools.callable.get();
  grammar.forced = tools.choice != ToolChoice::automatic;
  grammar.parallel = tools.parallel && tools.choice != ToolChoice::named;
  grammar.mark_tokens = mark_tokens(model);
  Result<std::string> source = write_call_grammar(grammar);
  if (!source.ok()) return unusable(source.error());
  if (source->empty()) return none;
  auto constraint =
      model.served->grammars->constraint({GrammarSource::Kind::lark_or_gbnf, std::move(*source)});
  if (!constraint.ok()) return unusable(constraint.error());
  return std::move(*constraint);
}

}  // namespace matador
