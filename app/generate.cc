// matador generate: token ids in, token ids out.

#include <cstdio>

#include "command.h"
#include "core/json.h"
#include "event_queue.h"
#include "options.h"

namespace matador {

namespace {

struct GenerateOptions {
  ModelOptions model;
  std::vector<int32_t> tokens;
  int32_t max_tokens = 16;
  bool ignore_eos = false;
  SamplingFlags sampling;
};

Status generate(const GenerateOptions& options) {
  auto served = load(options.model, {});
  if (!served) return served.error();
  auto events = std::make_shared<EventQueue>();
  Request request;
  request.prompt = options.tokens;
  request.params.max_tokens = options.max_tokens;
  request.params.ignore_eos = options.ignore_eos;
  request.params.temperature = 0;
  apply(options.sampling, request.params);
  request.sink = events;
  if (auto id = (*served)->engine->submit(std::move(request)); !id) return id.error();

  nlohmann::json tokens = nlohmann::json::array();
  for (Event event = events->pop();; event = events->pop()) {
    if (event.kind == Event::Kind::token) tokens.push_back(event.token);
    if (event.kind != Event::Kind::finished) continue;
    if (event.reason == FinishReason::error) return Error{ErrorCode::internal, event.error};
    break;
  }
  std::puts(dump_json({{"tokens", tokens}}).c_str());
  return {};
}

}  // namespace

void add_generate(CLI::App& app, Action& chosen) {
  auto [command, options] = add_command(app, chosen, "generate",
                                        "Continue token ids; print {\"tokens\": [...]}", generate);
  add_model_options(*command, options->model);
  add_tokens(*command, options->tokens);
  command->add_option("--max-tokens", options->max_tokens, "Tokens to generate at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--ignore-eos", options->ignore_eos, "Go on after an end-of-text token");
  add_sampling_options(*command, options->sampling);
}

}  // namespace matador
