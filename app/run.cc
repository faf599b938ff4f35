// matador run: one answer, or a chat at a terminal.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <random>

#include "answer.h"
#include "api/chat_prompt.h"
#include "command.h"
#include "options.h"

namespace matador {

namespace {

struct RunOptions {
  ModelOptions model;
  std::string prompt;
  std::string system;
  int32_t max_tokens = 0;
  int32_t max_model_len = 0;
  SamplingFlags sampling;
};

// The model's own defaults, then mild ones: small models ramble at OpenAI's temperature of 1.
SamplingParams sampling_of(const RunOptions& options, const Config& own,
                           const SamplingParams& defaults) {
  SamplingParams params = defaults;
  if (!own.has("temperature")) params.temperature = 0.7F;
  if (!own.has("top_p")) params.top_p = 0.95F;
  params.seed = std::random_device{}();
  apply(options.sampling, params);
  return params;
}

// A conversation with one model.
class Chat {
 public:
  Chat(std::shared_ptr<const ApiModel> model, const RunOptions& options)
      : model_(std::move(model)),
        params_(sampling_of(options, model_->served->generation_config, model_->defaults)),
        max_tokens_(options.max_tokens) {
    if (!options.system.empty()) add_message("system", options.system);
  }

  // Answers on stdout and remembers both sides.
  Status say(const std::string& text, Interrupts* interrupts) {
    add_message("user", text);
    auto prompt = encode(text);
    auto answer = prompt ? answer_to(std::move(*prompt), interrupts) : prompt.error();
    std::puts("");
    if (!answer) {
      messages_.erase(messages_.size() - 1);
      return answer.error();
    }
    print_speed(*answer);
    add_message("assistant", answer->text);
    return {};
  }

 private:
  void add_message(const char* role, const std::string& text) {
    messages_.push_back({{"role", role}, {"content", text}});
  }

  // The conversation; or `text` alone, for a model without a chat template to go on from.
  Result<std::vector<int32_t>> encode(const std::string& text) const {
    if (!model_->served->chat_template) return model_->served->tokenizer->encode(text);
    ChatPrompt prompt;
    prompt.messages = messages_;
    auto encoded = encode_chat_prompt(std::move(prompt), *model_);
    if (!encoded) return invalid_argument(encoded.error().message);
    return std::move(encoded->ids);
  }

  Result<Answer> answer_to(std::vector<int32_t> prompt, Interrupts* interrupts) const {
    SamplingParams params = params_;
    const auto room = model_->max_model_len - static_cast<int32_t>(prompt.size());
    params.max_tokens = max_tokens_ > 0 ? max_tokens_ : std::max(room, 1);
    return print_answer(*model_->served, std::move(prompt), params, interrupts);
  }

  std::shared_ptr<const ApiModel> model_;
  SamplingParams params_;
  int32_t max_tokens_;
  Json messages_ = Json::array();
};

// Until Ctrl-D; an error ends an answer, not the chat.
Status converse(Chat& chat, Interrupts& interrupts) {
  std::fprintf(stderr, "Ctrl-C stops an answer, Ctrl-D quits.\n");
  for (std::string line;;) {
    std::fputs(">>> ", stdout);
    std::fflush(stdout);
    if (!interrupts.wait_for_input()) {
      std::puts("");
      continue;
    }
    if (!std::getline(std::cin, line)) break;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (Status status = chat.say(line, &interrupts); !status) {
      std::fprintf(stderr, "matador: %s\n", status.error().message.c_str());
    }
  }
  std::puts("");
  return {};
}

Status answer_once(Chat& chat, const RunOptions& options) {
  std::string prompt = options.prompt;
  if (prompt.empty()) prompt.assign(std::istreambuf_iterator<char>(std::cin), {});
  if (prompt.empty()) return invalid_argument("no PROMPT, and nothing on standard input");
  return chat.say(prompt, nullptr);
}

Status run(const RunOptions& options) {
  const bool interactive = options.prompt.empty() && is_terminal(STDIN_FILENO);
  std::optional<Interrupts> interrupts;
  if (interactive) interrupts.emplace();
  EngineFlags engine;
  engine.max_model_len = options.max_model_len;
  engine.max_num_seqs = 1;
  auto model = load(options.model, engine);
  if (!model) return model.error();
  if ((*model)->tokenizer == nullptr) {
    return not_found(options.model.model + ": the model has no tokenizer");
  }
  auto api = ApiModel::make(**model, {}, /*parse_special_tokens_in_messages=*/false);
  if (!api) return api.error();
  Chat chat(std::move(*api), options);
  return interactive ? converse(chat, *interrupts) : answer_once(chat, options);
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto [command, options] =
      add_command(app, chosen, "run", "Answer a prompt, or chat at a terminal", run);
  add_model_options(*command, options->model);
  command->add_option("PROMPT", options->prompt,
                      "What to answer. Without it: a chat at a terminal, else standard input");
  command->add_option("--system", options->system, "A system message before everything");
  command
      ->add_option("--max-tokens", options->max_tokens,
                   "Tokens an answer has at most; 0: as many as the context holds")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--max-model-len", options->max_model_len,
                   "Tokens of the whole conversation; 0: as the model was made for")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_sampling_options(*command, options->sampling);
}

}  // namespace matador
