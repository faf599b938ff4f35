#include "api/answer.h"

#include <algorithm>
#include <utility>

namespace matador {

Answer::Answer(std::shared_ptr<const Tokenizer> tokenizer, AnswerOptions options,
               std::vector<std::vector<int32_t>> prompts, std::vector<std::string> echoes,
               std::unique_ptr<AnswerFormat> format)
    : tokenizer_(std::move(tokenizer)),
      options_(std::move(options)),
      echoes_(std::move(echoes)),
      format_(std::move(format)) {
  for (auto& ids : prompts) {
    usage_.prompt_tokens += static_cast<int64_t>(ids.size());
    // Generated choices beyond n never stream, so their index is not seen.
    for (int32_t i = 0; i < options_.best_of; ++i)
      add_choice(static_cast<int32_t>(prompts_.size()) * options_.n + i);
    prompts_.push_back({std::move(ids), {}});
  }
  num_open_ = choices_.size();
}

void Answer::add_choice(int32_t index) {
  Choice& choice = choices_.emplace_back(ChoiceText(tokenizer_, options_.text));
  choice.view.index = index;
  if (!options_.message) return;
  choice.message.emplace(options_.message->syntax);
  if (options_.message->syntax.reasoning) usage_.reasoning_tokens = 0;
}

void Answer::push(size_t request, Event event) {
  if (error_) return;
  if (event.kind == Event::Kind::prompt_done) return on_prompt(request, event);
  Choice& choice =
      choices_[request * static_cast<size_t>(options_.best_of) + static_cast<size_t>(event.choice)];
  if (!choice.open) return;
  if (event.kind == Event::Kind::token)
    on_token(request, choice, event);
  else
    on_finished(choice, event);
}

void Answer::on_prompt(size_t request, Event& event) {
  usage_.cached_tokens += event.num_cached_tokens;
  Prompt& prompt = prompts_[request];
  if (options_.prompt_scores || options_.echo_scores) {
    ChoiceText text(tokenizer_, {.skip_special_tokens = options_.text.skip_special_tokens});
    for (size_t i = 0; i < prompt.ids.size(); ++i) {
      TokenScore score{prompt.ids[i], std::nullopt, text.offset()};
      if (i > 0 && i <= event.prompt_logprobs.size())
        score.logprobs = std::move(event.prompt_logprobs[i - 1]);
      prompt.scores.push_back(std::move(score));
      text.push(prompt.ids[i]);
    }
  }
  for (int32_t i = 0; i < options_.best_of; ++i)
    start(request,
          choices_[request * static_cast<size_t>(options_.best_of) + static_cast<size_t>(i)]);
}

void Answer::start(size_t request, Choice& choice) {
  const Prompt& prompt = prompts_[request];
  ChoiceView& view = choice.view;
  if (options_.continues_prompt) {
    // A few tokens are enough to be past the start of a text.
    constexpr size_t kTail = 8;
    std::span<const int32_t> ids = prompt.ids;
    choice.text.continue_from(ids.last(std::min(kTail, ids.size())));
  }
  if (options_.return_token_ids) view.prompt_token_ids = &prompt.ids;
  if (options_.prompt_scores) view.prompt_scores = &prompt.scores;
  if (options_.stream) {
    std::string first = format_->first_chunk(view, usage_so_far());
    if (!first.empty()) chunks_.push_back(std::move(first));
  }
  if (!echoes_.empty()) {
    view.text = echoes_[request];
    choice.offset = count_characters(view.text);
    if (options_.echo_scores) view.scores = prompt.scores;
    if (options_.stream) send(choice);
  }
}

void Answer::on_token(size_t request, Choice& choice, Event& event) {
  ++choice.num_tokens;
  ++usage_.completion_tokens;
  if (event.logprobs) choice.sum_logprob += event.logprobs->chosen.logprob;
  if (options_.scores)
    choice.view.scores.push_back(
        {event.token, std::move(event.logprobs), choice.offset + choice.text.offset()});
  if (options_.return_token_ids) choice.view.token_ids.push_back(event.token);
  ChoiceText::Piece piece = choice.text.push(event.token);
  const bool reasoned = choice.message && choice.message->in_reasoning();
  show(choice, piece.text);
  if (reasoned || (choice.message && choice.message->in_reasoning())) ++*usage_.reasoning_tokens;
  if (piece.stopped) {
    cancels_.push_back({request, event.choice});
    return close(choice, "stop");
  }
  if (options_.stream) send(choice);
}

void Answer::on_finished(Choice& choice, const Event& event) {
  if (event.reason == FinishReason::error)
    return fail(
        {.status = 500, .message = event.error, .code = "engine_error", .type = "server_error"});
  if (event.reason == FinishReason::aborted)
    return fail({.status = 503,
                 .message = "The request was aborted before its end",
                 .code = "aborted",
                 .type = "service_unavailable_error"});
  ChoiceText::Piece rest = choice.text.finish(event.stop_token);
  show(choice, rest.text);
  bool stopped = rest.stopped || event.reason == FinishReason::stop;
  close(choice, stopped ? "stop" : "length");
}

void Answer::show(Choice& choice, const std::string& text) {
  if (!choice.message)
    choice.view.text += text;
  else
    add(choice, choice.message->push(text));
}

void Answer::add(Choice& choice, MessageDelta delta) const {
  ChoiceView& view = choice.view;
  view.text += delta.content;
  if (options_.message->include_reasoning) view.reasoning += delta.reasoning;
  for (ToolCallDelta& call : delta.calls) {
    const bool goes_on = !view.calls.empty() && view.calls.back().index == call.index;
    if (goes_on)
      view.calls.back().arguments += call.arguments;
    else
      view.calls.push_back(std::move(call));
  }
}

void Answer::send(Choice& choice) {
  const ChoiceView& view = choice.view;
  // Scores wait for the text they belong to.
  if (view.text.empty() && view.reasoning.empty() && view.calls.empty()) return;
  send_view(choice);
}

void Answer::send_view(Choice& choice) {
  ChoiceView& view = choice.view;
  chunks_.push_back(format_->chunk(view, usage_so_far()));
  view = ChoiceView{.index = view.index};
}

void Answer::close(Choice& choice, const std::string& reason) {
  choice.open = false;
  --num_open_;
  finish_reasons_.push_back(reason);
  if (choice.message) add(choice, choice.message->finish());
  if (options_.stream && format_->ends_apart()) send(choice);
  choice.view.finish_reason = reason;
  const bool calls = choice.message && choice.message->num_calls() > 0;
  if (calls && reason == "stop" && !options_.message->call_finish_reason.empty())
    choice.view.finish_reason = options_.message->call_finish_reason;
  if (!options_.stream) return;
  send_view(choice);
  if (num_open_ > 0) return;
  if (options_.include_usage) chunks_.push_back(format_->usage_chunk(usage_));
  chunks_.emplace_back("[DONE]");
}

void Answer::fail(ApiError error) {
  error_ = std::move(error);
  for (size_t i = 0; i < choices_.size(); ++i) {
    if (!choices_[i].open) continue;
    auto best_of = static_cast<size_t>(options_.best_of);
    cancels_.push_back({i / best_of, static_cast<int32_t>(i % best_of)});
    choices_[i].open = false;
    finish_reasons_.emplace_back("error");
  }
  num_open_ = 0;
  if (!options_.stream) return;
  chunks_.push_back(error_body(*error_));
  chunks_.emplace_back("[DONE]");
}

std::vector<ChoiceView> Answer::best_choices() const {
  std::vector<ChoiceView> best;
  auto mean = [](const Choice* c) { return c->sum_logprob / std::max(c->num_tokens, 1); };
  for (size_t prompt = 0; prompt < prompts_.size(); ++prompt) {
    std::vector<const Choice*> ranked;
    for (int32_t i = 0; i < options_.best_of; ++i)
      ranked.push_back(
          &choices_[prompt * static_cast<size_t>(options_.best_of) + static_cast<size_t>(i)]);
    if (options_.best_of > options_.n)
      std::stable_sort(ranked.begin(), ranked.end(),
                       [&](auto* a, auto* b) { return mean(a) > mean(b); });
    for (int32_t i = 0; i < options_.n; ++i) {
      best.push_back(ranked[static_cast<size_t>(i)]->view);
      best.back().index = static_cast<int32_t>(prompt) * options_.n + i;
    }
  }
  return best;
}

ApiResult<std::string> Answer::body() {
  if (error_) return *error_;
  return format_->body(best_choices(), usage_);
}

}  // namespace matador
