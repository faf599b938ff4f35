// Answer: one API request's response, made from the events of its engine requests. Chat and
// completions differ only in how they print, which is an AnswerFormat.
//
// Not synchronised: one thread at a time. Streams take chunks as they come; others ask for the
// body when done.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/choice_text.h"
#include "api/error.h"
#include "dialects/message_parser.h"
#include "engine/request.h"

namespace matador {

struct TokenScore {
  int32_t token = 0;
  // Absent where nothing came before it to be judged by: the first prompt token.
  std::optional<TokenLogprobs> logprobs;
  int64_t offset = 0;  // characters from the start of the choice's text
};

// What there is to say of a choice: all of it, or what is new since the last chunk.
struct ChoiceView {
  int32_t index = 0;
  std::string text = {};
  std::string reasoning = {};             // where the answer is a message, as are calls
  std::vector<ToolCallDelta> calls = {};  // one entry a call
  std::vector<TokenScore> scores = {};    // where logprobs were asked for
  std::vector<int32_t> token_ids = {};    // where they were asked for
  std::string finish_reason = {};         // "" before the end
  const std::vector<int32_t>* prompt_token_ids = nullptr;  // where asked for
  const std::vector<TokenScore>* prompt_scores = nullptr;  // where asked for
};

struct Usage {
  int64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
  std::optional<int64_t> reasoning_tokens = {};  // of the completion's; where the model reasons
};

// How text is read as an assistant's message.
struct MessageOptions {
  MessageSyntax syntax;
  bool include_reasoning = true;
  // The finish reason of a message with calls; "": as of any other.
  std::string call_finish_reason = {};
};

class AnswerFormat {
 public:
  virtual ~AnswerFormat() = default;
  // The chunk before the first of a choice; "": none.
  virtual std::string first_chunk(const ChoiceView& choice, const Usage* usage) = 0;
  virtual std::string chunk(const ChoiceView& choice, const Usage* usage) = 0;
  // The finish reason comes in a chunk without text.
  virtual bool ends_apart() const = 0;
  virtual std::string usage_chunk(const Usage& usage) = 0;
  virtual std::string body(const std::vector<ChoiceView>& choices, const Usage& usage) = 0;
};

struct AnswerOptions {
  ChoiceTextOptions text;
  std::optional<MessageOptions> message = {};  // absent: the text is shown as it is
  int32_t n = 1;                               // choices a prompt that are shown
  int32_t best_of = 1;  // choices a prompt that are generated; the likeliest are shown
  bool stream = false;
  bool include_usage = false;
  bool continuous_usage_stats = false;
  bool scores = false;         // of generated tokens
  bool prompt_scores = false;  // prompt_logprobs
  bool echo_scores = false;    // scores of an echoed prompt come first
  bool return_token_ids = false;
  bool continues_prompt = false;  // the text goes on from the prompt's last token
};

class Answer {
 public:
  // `prompts`: the ids of each engine request, in order; `echoes`: text put in front of the
  // choices of each (as many as prompts, or empty).
  Answer(std::shared_ptr<const Tokenizer> tokenizer, AnswerOptions options,
         std::vector<std::vector<int32_t>> prompts, std::vector<std::string> echoes,
         std::unique_ptr<AnswerFormat> format);

  void push(size_t request, Event event);
  bool done() const { return num_open_ == 0; }

  // The choices that need no more tokens, since the last call.
  struct Cancel {
    size_t request = 0;
    int32_t choice = 0;
  };
  std::vector<Cancel> take_cancels() { return std::exchange(cancels_, {}); }

  // Streams: the JSON of the chunks since the last call, the usage and "[DONE]" included.
  std::vector<std::string> take_chunks() { return std::exchange(chunks_, {}); }
  // Others, once done. An error if a choice failed.
  ApiResult<std::string> body();

  bool stream() const { return options_.stream; }
  const Usage& usage() const { return usage_; }
  // Of the choices that have ended: "stop", "length" or "error".
  const std::vector<std::string>& finish_reasons() const { return finish_reasons_; }

 private:
  struct Choice {
    explicit Choice(ChoiceText t) : text(std::move(t)) {}
    ChoiceText text;
    std::optional<MessageParser> message;
    ChoiceView view;  // whole, or since the last chunk
    int32_t num_tokens = 0;
    double sum_logprob = 0;
    int64_t offset = 0;  // of the first token, after an echo
    bool open = true;
  };
  struct Prompt {
    std::vector<int32_t> ids;
    std::vector<TokenScore> scores;
  };

  void add_choice(int32_t index);
  void start(size_t request, Choice& choice);
  void on_prompt(size_t request, Event& event);
  void on_token(size_t request, Choice& choice, Event& event);
  void on_finished(Choice& choice, const Event& event);
  void show(Choice& choice, const std::string& text);
  void add(Choice& choice, MessageDelta delta) const;
  void close(Choice& choice, const std::string& reason);
  void send(Choice& choice);       // what is new, unless it shows nothing
  void send_view(Choice& choice);  // what is new
  void fail(ApiError error);
  const Usage* usage_so_far() const { return options_.continuous_usage_stats ? &usage_ : nullptr; }
  std::vector<ChoiceView> best_choices() const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  AnswerOptions options_;
  std::vector<Prompt> prompts_;
  std::vector<std::string> echoes_;
  std::unique_ptr<AnswerFormat> format_;
  std::vector<Choice> choices_;  // best_of of each prompt
  size_t num_open_ = 0;
  Usage usage_;
  std::vector<std::string> finish_reasons_;
  std::vector<Cancel> cancels_;
  std::vector<std::string> chunks_;
  std::optional<ApiError> error_;
};

}  // namespace matador
