#include "api/api_model.h"

#include <algorithm>
#include <ctime>
#include <limits>

#include "api/json.h"

namespace matador {
namespace {

Status read_default(const Config& config, const char* key, std::pair<double, double> range,
                    float& value) {
  std::optional<double> found = config.number(key);
  if (!found) return {};
  if (!(*found >= range.first && *found <= range.second))
    return invalid_argument(config.source() + ": " + key + ": expected a number from " +
                            std::to_string(range.first) + " to " + std::to_string(range.second) +
                            ", found " + config.dump(key));
  value = static_cast<float>(*found);
  return {};
}

Result<SamplingParams> read_defaults(const Config& config) {
  SamplingParams p;
  constexpr float kTiny = std::numeric_limits<float>::min();
  for (const Status& status :
       {read_default(config, "temperature", {0, 100}, p.temperature),
        read_default(config, "top_p", {0, 1}, p.top_p),
        read_default(config, "min_p", {0, 1}, p.min_p),
        read_default(config, "repetition_penalty", {0.01, 100}, p.repetition_penalty)})
    if (!status.ok()) return status.error();
  p.top_p = std::max(p.top_p, kTiny);
  p.top_k = static_cast<int32_t>(std::clamp<int64_t>(config.integer("top_k").value_or(0), -1,
                                                     std::numeric_limits<int32_t>::max()));
  return p;
}

Status set_dialect(ApiModel& model, const DialectOptions& options) {
  const auto& chat_template = model.served->chat_template;
  const std::string source = chat_template ? chat_template->source() : "";
  model.tools_in_template = options.tools_in_template;
  model.call_format = detect_call_format(source);
  model.reasoning_format = detect_reasoning_format(source);
  if (!options.tool_call_parser.empty()) {
    auto found = find_call_format(options.tool_call_parser);
    if (!found.ok()) return found.error();
    model.call_format = *found;
  }
  if (options.reasoning_parser == "none") {
    model.reasoning_format = nullptr;
  } else if (!options.reasoning_parser.empty()) {
    auto found = find_reasoning_format(options.reasoning_parser);
    if (!found.ok()) return found.error();
    model.reasoning_format = *found;
  }
  return {};
}

std::vector<int32_t> mark_tokens(const Tokenizer& tokenizer, const CallFormat* calls,
                                 const ReasoningFormat* reasoning) {
  std::vector<int32_t> ids;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    if (tokenizer.is_special(id) && is_in_mark(calls, reasoning, tokenizer.token_text(id)))
      ids.push_back(id);
  return ids;
}

Json model_object(const ApiModel& model, const std::string& name) {
  return {{"id", name},
          {"object", "model"},
          {"created", model.created},
          {"owned_by", "matador"},
          {"max_model_len", model.max_model_len}};
}

}  // namespace

Result<std::shared_ptr<const ApiModel>> ApiModel::make(ServedModel& served,
                                                       std::vector<std::string> names,
                                                       bool parse_special_tokens_in_messages,
                                                       const DialectOptions& dialect) {
  auto model = std::make_shared<ApiModel>();
  model->served = &served;
  model->names = std::move(names);
  if (model->names.empty()) model->names = {served.path};
  model->created = std::time(nullptr);
  model->vocab_size = served.engine->model_info().vocab_size;
  model->max_model_len = served.engine->max_model_len();
  model->parse_special_tokens_in_messages = parse_special_tokens_in_messages;
  if (Status status = set_dialect(*model, dialect); !status.ok()) return status.error();
  if (served.tokenizer) {
    const Tokenizer& tokenizer = *served.tokenizer;
    model->reasoning_marks = mark_tokens(tokenizer, nullptr, model->reasoning_format);
    model->call_and_reasoning_marks =
        mark_tokens(tokenizer, model->call_format, model->reasoning_format);
    model->vocab_size = std::min(model->vocab_size, served.tokenizer->vocab_size());
    model->control_tokens = ControlTokens(*served.tokenizer);
  }
  Result<SamplingParams> defaults = read_defaults(served.generation_config);
  if (!defaults.ok()) return defaults.error();
  model->defaults = std::move(*defaults);
  return std::shared_ptr<const ApiModel>(std::move(model));
}

bool ApiModel::knows(std::string_view name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string models_body(const ApiModel& model) {
  Json data = Json::array();
  for (const std::string& name : model.names) data.push_back(model_object(model, name));
  return dump_json({{"object", "list"}, {"data", std::move(data)}});
}

ApiResult<std::string> model_body(const ApiModel& model, std::string_view id) {
  if (auto error = check_model_name(model, id)) return *error;
  return dump_json(model_object(model, std::string(id)));
}

std::optional<ApiError> check_model_name(const ApiModel& model, std::string_view name) {
  if (model.knows(name)) return std::nullopt;
  return ApiError{.status = 404,
                  .message = "The model '" + std::string(name) +
                             "' does not exist; served here: " + model.name(),
                  .param = "model",
                  .code = "model_not_found"};
}

}  // namespace matador
