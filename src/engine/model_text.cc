#include "engine/model_text.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "core/file.h"
#include "engine/gguf_vocab.h"
#include "weights/gguf.h"

namespace matador {

namespace {

using Template = Result<std::shared_ptr<const ChatTemplate>>;

constexpr uint64_t kMaxTemplateBytes = 4 << 20;

// The variables bos_token, eos_token... that templates may use.
std::string tokens_json(const Tokenizer* tokenizer) {
  Config tokens;
  if (tokenizer == nullptr) return tokens.dump();
  if (tokenizer->bos_id() >= 0) {
    tokens.set("bos_token", std::string(tokenizer->token_text(tokenizer->bos_id())));
  }
  if (!tokenizer->eos_ids().empty()) {
    tokens.set("eos_token", std::string(tokenizer->token_text(tokenizer->eos_ids().front())));
  }
  return tokens.dump();
}

void set_template(ModelText& text, Template compiled) {
  if (compiled) {
    text.chat_template = std::move(*compiled);
  } else if (compiled.error().code != ErrorCode::not_found) {
    text.chat_template_error = compiled.error().message;
  }
}

// Missing is no error: text routes say so when they are asked.
Status set_tokenizer(OpenedText& opened, Result<std::shared_ptr<const Tokenizer>> loaded) {
  if (!loaded) {
    if (loaded.error().code == ErrorCode::not_found) return {};
    return loaded.error();
  }
  opened.text.tokenizer = std::move(*loaded);
  auto eos = opened.text.tokenizer->eos_ids();
  opened.eos_token_ids.insert(opened.eos_token_ids.end(), eos.begin(), eos.end());
  return {};
}

Result<OpenedText> open_gguf(const std::string& path) {
  OpenedText opened;
  auto file = GgufFile::open(path);
  if (!file) return file.error();
  Result<GgufVocab> vocab = gguf_vocab(**file);
  if (!vocab && vocab.error().code == ErrorCode::not_found) return opened;
  if (!vocab) return vocab.error();
  Status status = set_tokenizer(opened, Tokenizer::from_gguf(*vocab));
  if (!status) return status.error();
  opened.eos_token_ids = gguf_eos_tokens(*vocab);
  if (!vocab->chat_template.empty()) {
    set_template(opened.text, ChatTemplate::compile(vocab->chat_template,
                                                    tokens_json(opened.text.tokenizer.get())));
  }
  return opened;
}

Result<OpenedText> open_folder(const std::string& path) {
  OpenedText opened;
  Status status = set_tokenizer(opened, Tokenizer::from_folder(path));
  if (!status) return status.error();
  set_template(opened.text, ChatTemplate::from_folder(path));
  return opened;
}

Result<OpenedText> open_any(const std::string& path) {
  return std::filesystem::is_directory(path) ? open_folder(path) : open_gguf(path);
}

// What --chat-template gives: a file, or else the template's own text.
Status override_template(ModelText& text, const std::string& given) {
  std::string source = given;
  std::error_code ignored;
  if (given.find('\n') == std::string::npos && std::filesystem::is_regular_file(given, ignored)) {
    Result<std::string> read = read_file(given, kMaxTemplateBytes);
    if (!read) return read.error();
    source = std::move(*read);
  }
  Template compiled = ChatTemplate::compile(source, tokens_json(text.tokenizer.get()));
  if (!compiled) return compiled.error();
  text.chat_template = std::move(*compiled);
  text.chat_template_error.clear();
  return {};
}

}  // namespace

Result<OpenedText> open_model_text(const std::string& path, const ServeOptions& options) {
  Result<OpenedText> opened = open_any(path);
  if (!opened) return opened;
  if (!options.tokenizer.empty()) {
    Result<OpenedText> other = open_any(options.tokenizer);
    if (!other) return other;
    if (other->text.tokenizer == nullptr) return not_found(options.tokenizer + ": no tokenizer");
    opened->text.tokenizer = other->text.tokenizer;
    opened->eos_token_ids = other->eos_token_ids;
    if (opened->text.chat_template == nullptr) opened->text = other->text;
  }
  if (!options.chat_template.empty()) {
    Status status = override_template(opened->text, options.chat_template);
    if (!status) return status.error();
  }
  return opened;
}

Result<ModelText> load_model_text(const std::string& path, const ServeOptions& options) {
  Result<std::string> resolved = resolve_model(path);
  if (!resolved) return resolved.error();
  Result<OpenedText> opened = open_model_text(*resolved, options);
  if (!opened) return opened.error();
  return std::move(opened->text);
}

}  // namespace matador
