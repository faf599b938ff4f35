#include "api/chat_format.h"

#include <algorithm>

#include "api/print.h"

namespace matador {
namespace {

class ChatFormat final : public AnswerFormat {
 public:
  explicit ChatFormat(ChatFormatOptions options)
      : options_(std::move(options)), head_(ResponseHead::make("chatcmpl-", options_.model)) {}

  std::string first_chunk(const ChoiceView& view, const Usage* usage) override {
    Json choice = chunk_choice(view.index, {{"role", "assistant"}, {"content", ""}});
    Json chunk = make_chunk(std::move(choice), usage);
    if (view.prompt_token_ids) chunk["prompt_token_ids"] = *view.prompt_token_ids;
    return dump_json(chunk);
  }

  std::string chunk(const ChoiceView& view, const Usage* usage) override {
    Json delta = Json::object();
    if (!view.reasoning.empty()) delta["reasoning_content"] = view.reasoning;
    if (!view.text.empty()) delta["content"] = view.text;
    add_calls(view, delta, true);
    Json choice = chunk_choice(view.index, std::move(delta));
    if (options_.logprobs && !view.scores.empty()) choice["logprobs"] = logprobs(view.scores);
    if (!view.finish_reason.empty()) choice["finish_reason"] = view.finish_reason;
    if (!view.token_ids.empty()) choice["token_ids"] = view.token_ids;
    return dump_json(make_chunk(std::move(choice), usage));
  }

  bool ends_apart() const override { return true; }

  std::string usage_chunk(const Usage& usage) override {
    Json chunk = head_.json("chat.completion.chunk");
    chunk["choices"] = Json::array();
    chunk["usage"] = usage_json(usage);
    return dump_json(chunk);
  }

  std::string body(const std::vector<ChoiceView>& choices, const Usage& usage) override {
    Json body = head_.json("chat.completion");
    body["choices"] = Json::array();
    for (const ChoiceView& view : choices) {
      Json choice = {{"index", view.index},
                     {"message", message(view)},
                     {"logprobs", options_.logprobs ? logprobs(view.scores) : Json()},
                     {"finish_reason", view.finish_reason}};
      if (view.prompt_token_ids) choice["token_ids"] = view.token_ids;
      body["choices"].push_back(std::move(choice));
    }
    body["usage"] = usage_json(usage);
    const ChoiceView& first = choices.front();  // they share the prompt
    if (first.prompt_scores)
      body["prompt_logprobs"] = prompt_logprobs_json(*first.prompt_scores, *options_.tokenizer);
    if (first.prompt_token_ids) body["prompt_token_ids"] = *first.prompt_token_ids;
    return dump_json(body);
  }

 private:
  Json message(const ChoiceView& view) const {
    Json message = {{"role", "assistant"}, {"content", view.text}, {"refusal", nullptr}};
    if (view.text.empty() && !view.calls.empty()) message["content"] = nullptr;
    if (!view.reasoning.empty()) message["reasoning_content"] = view.reasoning;
    add_calls(view, message, false);
    return message;
  }

  // A call's id, type and name come once: in streams with the first of its arguments.
  void add_calls(const ChoiceView& view, Json& message, bool streams) const {
    for (const ToolCallDelta& call : view.calls) {
      Json function = Json::object();
      if (!call.name.empty()) function["name"] = call.name;
      function["arguments"] = call.arguments;
      if (options_.function_call) {
        message["function_call"] = std::move(function);
        return;
      }
      Json entry = Json::object();
      if (streams) entry["index"] = call.index;
      if (!call.name.empty()) {
        entry["id"] = options_.call_ids.make(call.name, call.index);
        entry["type"] = "function";
      }
      entry["function"] = std::move(function);
      message["tool_calls"].push_back(std::move(entry));
    }
  }

  static Json chunk_choice(int32_t index, Json delta) {
    return {{"index", index},
            {"delta", std::move(delta)},
            {"logprobs", nullptr},
            {"finish_reason", nullptr}};
  }

  Json make_chunk(Json choice, const Usage* usage) const {
    Json chunk = head_.json("chat.completion.chunk");
    chunk["choices"] = Json::array({std::move(choice)});
    add_chunk_usage(chunk, options_.include_usage, usage);
    return chunk;
  }

  Json token(const Logprob& candidate) const {
    std::string_view bytes = options_.tokenizer->token_bytes(candidate.token);
    Json numbers = Json::array();
    for (char byte : bytes) numbers.push_back(static_cast<uint8_t>(byte));
    return {{"token", replace_invalid_utf8(bytes)},
            {"logprob", json_logprob(candidate.logprob)},
            {"bytes", std::move(numbers)}};
  }

  Json logprobs(const std::vector<TokenScore>& scores) const {
    Json content = Json::array();
    for (const TokenScore& score : scores) {
      if (!score.logprobs) continue;
      Json entry = token(score.logprobs->chosen);
      Json top = Json::array();
      auto shown = std::min(score.logprobs->top.size(), static_cast<size_t>(options_.top_logprobs));
      for (size_t i = 0; i < shown; ++i) top.push_back(token(score.logprobs->top[i]));
      entry["top_logprobs"] = std::move(top);
      content.push_back(std::move(entry));
    }
    return {{"content", std::move(content)}, {"refusal", nullptr}};
  }

  ChatFormatOptions options_;
  ResponseHead head_;
};

}  // namespace

std::unique_ptr<AnswerFormat> make_chat_format(ChatFormatOptions options) {
  return std::make_unique<ChatFormat>(std::move(options));
}

}  // namespace matador
