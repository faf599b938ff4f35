#include "api/completion_format.h"

#include "api/print.h"

namespace matador {
namespace {

class CompletionFormat final : public AnswerFormat {
 public:
  explicit CompletionFormat(CompletionFormatOptions options)
      : options_(std::move(options)), head_(ResponseHead::make("cmpl-", options_.model)) {}

  std::string first_chunk(const ChoiceView&, const Usage*) override { return ""; }

  std::string chunk(const ChoiceView& view, const Usage* usage) override {
    Json chunk = head_.json("text_completion");
    chunk["choices"] = Json::array({choice(view)});
    add_chunk_usage(chunk, options_.include_usage, usage);
    return dump_json(chunk);
  }

  bool ends_apart() const override { return false; }

  std::string usage_chunk(const Usage& usage) override {
    Json chunk = head_.json("text_completion");
    chunk["choices"] = Json::array();
    chunk["usage"] = usage_json(usage);
    return dump_json(chunk);
  }

  std::string body(const std::vector<ChoiceView>& choices, const Usage& usage) override {
    Json body = head_.json("text_completion");
    body["choices"] = Json::array();
    for (const ChoiceView& view : choices) body["choices"].push_back(choice(view));
    body["usage"] = usage_json(usage);
    return dump_json(body);
  }

 private:
  Json choice(const ChoiceView& view) const {
    Json choice = {
        {"text", view.text},
        {"index", view.index},
        {"logprobs", options_.logprobs ? logprobs(view.scores) : Json()},
        {"finish_reason", view.finish_reason.empty() ? Json() : Json(view.finish_reason)}};
    if (view.prompt_scores)
      choice["prompt_logprobs"] = prompt_logprobs_json(*view.prompt_scores, *options_.tokenizer);
    if (view.prompt_token_ids) choice["prompt_token_ids"] = *view.prompt_token_ids;
    if (view.prompt_token_ids || !view.token_ids.empty()) choice["token_ids"] = view.token_ids;
    return choice;
  }

  // OpenAI's spelling of a token that is part of a character: bytes:\xe6\xbc
  std::string token(int32_t id) const {
    std::string_view bytes = options_.tokenizer->token_bytes(id);
    if (is_valid_utf8(bytes)) return std::string(bytes);
    std::string text = "bytes:";
    for (char byte : bytes) {
      constexpr auto kHex = "0123456789abcdef";
      auto value = static_cast<uint8_t>(byte);
      text += {'\\', 'x', kHex[value / 16], kHex[value % 16]};
    }
    return text;
  }

  // The best candidates and, if it is not among them, the chosen one.
  Json top(const TokenLogprobs& scores) const {
    Json top = Json::object();
    auto count = std::min(scores.top.size(), static_cast<size_t>(*options_.logprobs));
    for (size_t i = 0; i < count; ++i)
      top.emplace(token(scores.top[i].token), json_logprob(scores.top[i].logprob));
    top.emplace(token(scores.chosen.token), json_logprob(scores.chosen.logprob));
    return top;
  }

  Json logprobs(const std::vector<TokenScore>& scores) const {
    Json offsets = Json::array(), logprobs = Json::array(), tokens = Json::array(),
         tops = Json::array();
    for (const TokenScore& score : scores) {
      offsets.push_back(score.offset);
      tokens.push_back(token(score.token));
      logprobs.push_back(score.logprobs ? Json(json_logprob(score.logprobs->chosen.logprob))
                                        : Json());
      tops.push_back(score.logprobs ? top(*score.logprobs) : Json());
    }
    return {{"text_offset", std::move(offsets)},
            {"token_logprobs", std::move(logprobs)},
            {"tokens", std::move(tokens)},
            {"top_logprobs", std::move(tops)}};
  }

  CompletionFormatOptions options_;
  ResponseHead head_;
};

}  // namespace

std::unique_ptr<AnswerFormat> make_completion_format(CompletionFormatOptions options) {
  return std::make_unique<CompletionFormat>(std::move(options));
}

}  // namespace matador
