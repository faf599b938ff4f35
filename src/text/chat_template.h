// ChatTemplate: a Jinja template that turns messages into a prompt, rendered as
// transformers.apply_chat_template renders it. Immutable; any thread may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace matador {

struct ChatTemplateInput {
  std::string messages_json;   // array of message objects
  std::string tools_json;      // array, or empty: none
  std::string documents_json;  // array, or empty: none
  std::string kwargs_json;     // object of extra variables, or empty
  bool add_generation_prompt = true;
  bool continue_final_message = false;  // leave the last message open; no generation prompt then
  std::optional<int64_t> now;           // Unix seconds that strftime_now tells; absent: the clock
};

class ChatTemplate {
 public:
  // A syntax error is reported with its line. `tokens_json`: object of bos_token, eos_token, ...
  static Result<std::shared_ptr<const ChatTemplate>> compile(std::string_view source,
                                                             std::string_view tokens_json);
  // Picks the template of a Hugging Face folder: chat_template.jinja, chat_template.json, or
  // tokenizer_config.json's (a string or a named list, of which "default"). not_found: none.
  static Result<std::shared_ptr<const ChatTemplate>> from_folder(const std::string& folder);
  ~ChatTemplate();

  // Messages with list content reach templates that loop over parts as lists, others as the
  // joined text. Errors carry the template's own words (raise_exception).
  Result<std::string> render(const ChatTemplateInput& input) const;
  const std::string& source() const;
  // The template shows tools to the model; otherwise it leaves them out.
  bool takes_tools() const;

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace matador
