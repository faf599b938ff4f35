// POST /tokenize and /detokenize
#include "api/call.h"
#include "api/chat_prompt.h"
#include "api/field_reader.h"
#include "api/tool_request.h"

namespace matador {
namespace {

ApiResult<std::vector<int32_t>> encode_text(FieldReader& in, const Tokenizer& tokenizer) {
  std::string prompt = in.text("prompt").value_or("");
  bool add_special_tokens = in.boolean("add_special_tokens").value_or(true);
  in.refuse_unknown();
  if (in.error()) return *in.error();
  auto ids = tokenizer.encode(prompt, {.add_special_tokens = add_special_tokens});
  if (!ids.ok()) return to_api_error(ids.error());
  return std::move(*ids);
}

ApiResult<std::vector<int32_t>> encode_messages(FieldReader& in, const ApiModel& model) {
  ChatPrompt prompt = read_chat_prompt(in, model.control_tokens);
  ToolRequest tools = read_tools(in);
  in.refuse_unknown();
  if (in.error()) return *in.error();
  if (shows_tools(tools, model)) prompt.tools = std::move(tools.shown);
  auto encoded = encode_chat_prompt(std::move(prompt), model);
  if (!encoded.ok()) return encoded.error();
  return std::move(encoded->ids);
}

void check_model(FieldReader& in, const ApiModel& model) {
  if (auto name = in.text("model"))
    if (auto error = check_model_name(model, *name)) in.fail(*error);
}

ApiError no_tokenizer() {
  return {.message = "The model has no tokenizer", .code = "no_tokenizer"};
}

}  // namespace

ApiResult<std::string> tokenize_body(std::string_view body, const ApiModel& model) {
  if (!model.served->tokenizer) return no_tokenizer();
  const Tokenizer& tokenizer = *model.served->tokenizer;
  ApiResult<Json> json = parse_json_object(body);
  if (!json.ok()) return json.error();
  FieldReader in(*json);
  check_model(in, model);
  bool with_strings = in.boolean("return_token_strs").value_or(false);
  bool chat = json->contains("messages");
  if (!chat && !json->contains("prompt"))
    in.fail("prompt", "or 'messages' is required", "missing_required_parameter");
  auto ids = chat ? encode_messages(in, model) : encode_text(in, tokenizer);
  if (!ids.ok()) return ids.error();
  Json strings;
  if (with_strings)
    for (int32_t id : *ids) strings.push_back(std::string(tokenizer.token_text(id)));
  return dump_json({{"count", ids->size()},
                    {"max_model_len", model.max_model_len},
                    {"tokens", *ids},
                    {"token_strs", std::move(strings)}});
}

ApiResult<std::string> detokenize_body(std::string_view body, const ApiModel& model) {
  if (!model.served->tokenizer) return no_tokenizer();
  ApiResult<Json> json = parse_json_object(body);
  if (!json.ok()) return json.error();
  FieldReader in(*json);
  check_model(in, model);
  auto ids = in.token_ids("tokens", model.vocab_size);
  if (!in.error() && !ids) in.fail("tokens", "is required", "missing_required_parameter");
  in.refuse_unknown();
  if (in.error()) return *in.error();
  return dump_json({{"prompt", model.served->tokenizer->decode(*ids, false)}});
}

}  // namespace matador
