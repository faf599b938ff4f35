// matador tokenize, matador detokenize: the model's tokenizer alone.

#include <cstdio>

#include "command.h"
#include "core/json.h"
#include "options.h"

namespace matador {

namespace {

struct TokenizeOptions {
  std::string model;
  std::string text;
  bool no_special_tokens = false;
};

struct DetokenizeOptions {
  std::string model;
  std::vector<int32_t> tokens;
  bool skip_special_tokens = false;
};

Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const std::string& model) {
  auto text = load_model_text(model, {});
  if (!text) return text.error();
  if (text->tokenizer == nullptr) return not_found(model + ": the model has no tokenizer");
  return text->tokenizer;
}

Status tokenize(const TokenizeOptions& options) {
  auto tokenizer = load_tokenizer(options.model);
  if (!tokenizer) return tokenizer.error();
  auto ids = (*tokenizer)->encode(options.text, {.add_special_tokens = !options.no_special_tokens});
  if (!ids) return ids.error();
  std::puts(dump_json({{"count", ids->size()}, {"tokens", *ids}}).c_str());
  return {};
}

Status detokenize(const DetokenizeOptions& options) {
  auto tokenizer = load_tokenizer(options.model);
  if (!tokenizer) return tokenizer.error();
  std::puts((*tokenizer)->decode(options.tokens, options.skip_special_tokens).c_str());
  return {};
}

}  // namespace

void add_tokenize(CLI::App& app, Action& chosen) {
  auto [command, options] =
      add_command(app, chosen, "tokenize", "Print a text's token ids as JSON", tokenize);
  add_model(*command, options->model);
  command->add_option("TEXT", options->text, "The text")->required();
  command->add_flag("--no-special-tokens", options->no_special_tokens,
                    "Without the tokens that the model puts around a text (BOS, EOS)");
}

void add_detokenize(CLI::App& app, Action& chosen) {
  auto [command, options] =
      add_command(app, chosen, "detokenize", "Print the text of token ids", detokenize);
  add_model(*command, options->model);
  command->add_option("TOKENS,--tokens", options->tokens, "Token ids, as 1,2,3")
      ->delimiter(',')
      ->required();
  command->add_flag("--skip-special-tokens", options->skip_special_tokens,
                    "Leave out control tokens");
}

}  // namespace matador
