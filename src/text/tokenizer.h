// Tokenizer: text <-> token ids, equal to Hugging Face's for the same files. Immutable after load;
// any thread may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace matador {

// A vocabulary as GGUF metadata holds it (tokenizer.ggml.*).
struct GgufVocab {
  std::string model;  // "gpt2", "llama", "bert", "t5"
  std::string pre;    // pre-tokenizer kind for gpt2: "smollm", "qwen2", "llama-bpe"...
  std::vector<std::string> tokens;
  std::vector<float> scores;   // empty where the model has none
  std::vector<int32_t> types;  // 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte
  std::vector<std::string> merges;  // gpt2: "left right"
  int32_t bos = -1, eos = -1, unk = -1, sep = -1, pad = -1, cls = -1, mask = -1;
  int32_t eot = -1, eom = -1;
  std::optional<bool> add_bos, add_eos;  // absent: as the model and pre-tokenizer kind usually do
  bool add_space_prefix = true, remove_extra_whitespaces = false;
  std::string precompiled_charsmap;
  std::string chat_template;
};

struct EncodeOptions {
  bool add_special_tokens = true;  // the post-processor's BOS, EOS, CLS...
  // False: spellings of control tokens in the text are plain text (a message cannot forge a turn).
  bool parse_special_tokens = true;
};

class Tokenizer {
 public:
  // From a Hugging Face folder: tokenizer.json, else tokenizer.model (SentencePiece), with
  // tokenizer_config.json, special_tokens_map.json and added_tokens.json where present.
  static Result<std::shared_ptr<const Tokenizer>> from_folder(const std::string& folder);
  static Result<std::shared_ptr<const Tokenizer>> from_gguf(const GgufVocab& vocab);
  // From the content of one file alone, without the files that complete it.
  static Result<std::shared_ptr<const Tokenizer>> from_json(std::string_view tokenizer_json);
  static Result<std::shared_ptr<const Tokenizer>> from_sentencepiece(std::string_view model);
  ~Tokenizer();

  // Fails only on text that is not UTF-8.
  Result<std::vector<int32_t>> encode(std::string_view text, EncodeOptions options = {}) const;
  // Unknown ids are skipped; invalid UTF-8 becomes U+FFFD, as Hugging Face does, but a complete
  // character among invalid byte-fallback tokens is kept, since a stream has shown it already.
  std::string decode(std::span<const int32_t> ids, bool skip_special_tokens) const;

  int32_t vocab_size() const;  // one more than the highest id
  // The bytes a token stands for inside a text ("" for unknown ids); may be part of a character.
  std::string_view token_bytes(int32_t id) const;
  // The token as the vocabulary spells it.
  std::string_view token_text(int32_t id) const;
  bool is_special(int32_t id) const;
  // -1 when the vocabulary has no such token.
  int32_t token_id(std::string_view token) const;
  int32_t bos_id() const;                    // -1: none
  std::span<const int32_t> eos_ids() const;  // as the tokenizer's own files name them

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  friend class IncrementalDecoder;
  friend class GrammarCompiler;
};

// Turns tokens into text as they come. The pieces joined equal Tokenizer::decode of all the ids;
// no piece ends inside a UTF-8 sequence, and nothing complete is held back.
class IncrementalDecoder {
 public:
  IncrementalDecoder(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special_tokens);
  ~IncrementalDecoder();
  IncrementalDecoder(IncrementalDecoder&&) noexcept;
  IncrementalDecoder& operator=(IncrementalDecoder&&) noexcept;
  std::string push(int32_t id);
  // What is still held: U+FFFD for an unfinished sequence, as decode gives.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace matador
