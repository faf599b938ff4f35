// The C ABI of the Rust crate in rust/ (see rust/src/abi.rs). No entry panics or throws across it,
// apart from what a sink throws. Objects are immutable and may be used from any thread, except
// MtextDecoder and MtextGrammarState, which have one user at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// NOLINTBEGIN(modernize-use-using): C has no `using`.
#ifdef __cplusplus
extern "C" {
#endif

typedef struct MtextTokenizer MtextTokenizer;
typedef struct MtextDecoder MtextDecoder;
typedef struct MtextTemplate MtextTemplate;
typedef struct MtextGrammarCompiler MtextGrammarCompiler;
typedef struct MtextGrammar MtextGrammar;
typedef struct MtextGrammarState MtextGrammarState;

// Borrowed bytes; those that a function returns live as long as its object.
typedef struct MtextText {
  const char* data;
  size_t size;
} MtextText;

// Receives a text: the result when the status is MTEXT_OK, else the error's message.
typedef struct MtextTextSink {
  void* context;
  void (*write)(void* context, const char* data, size_t size);
} MtextTextSink;

typedef struct MtextIdSink {
  void* context;
  void (*write)(void* context, const uint32_t* ids, size_t count);
} MtextIdSink;

enum {
  MTEXT_OK = 0,
  MTEXT_INVALID = 1,
  MTEXT_NOT_FOUND = 2,
  MTEXT_UNSUPPORTED = 3,
  MTEXT_IO = 4,
  MTEXT_INTERNAL = 5,
};

// tokenizer.ggml.*; ids are -1 where absent.
typedef struct MtextGgufVocab {
  MtextText model, pre;
  const MtextText* tokens;
  size_t token_count;
  const float* scores;
  size_t score_count;
  const int32_t* types;
  size_t type_count;
  const MtextText* merges;
  size_t merge_count;
  MtextText charsmap;
  int32_t bos, eos, unknown, separator, class_token, end_of_turn, end_of_message;
  int32_t add_bos, add_eos;  // 1, 0, or -1 where the file does not say
  bool add_space_prefix, remove_extra_whitespaces;
} MtextGgufVocab;

int32_t mtext_tokenizer_from_folder(MtextText folder, MtextTokenizer** out, MtextTextSink message);
int32_t mtext_tokenizer_from_json(MtextText json, MtextTokenizer** out, MtextTextSink message);
int32_t mtext_tokenizer_from_sentencepiece(MtextText model, MtextTokenizer** out,
                                           MtextTextSink message);
int32_t mtext_tokenizer_from_gguf(const MtextGgufVocab* vocab, MtextTokenizer** out,
                                  MtextTextSink message);
void mtext_tokenizer_free(MtextTokenizer* tokenizer);

int32_t mtext_encode(const MtextTokenizer* tokenizer, MtextText text, bool add_special,
                     bool parse_special, MtextIdSink ids, MtextTextSink message);
int32_t mtext_decode(const MtextTokenizer* tokenizer, const uint32_t* ids, size_t count,
                     bool skip_special, MtextTextSink text);

uint32_t mtext_vocab_size(const MtextTokenizer* tokenizer);
MtextText mtext_token_text(const MtextTokenizer* tokenizer, uint32_t id);
MtextText mtext_token_bytes(const MtextTokenizer* tokenizer, uint32_t id);
bool mtext_is_special(const MtextTokenizer* tokenizer, uint32_t id);
int64_t mtext_token_id(const MtextTokenizer* tokenizer, MtextText token);  // -1: none
int64_t mtext_bos_id(const MtextTokenizer* tokenizer);                     // -1: none
void mtext_eos_ids(const MtextTokenizer* tokenizer, MtextIdSink ids);

MtextDecoder* mtext_decoder_new(const MtextTokenizer* tokenizer, bool skip_special);
void mtext_decoder_free(MtextDecoder* decoder);
int32_t mtext_decoder_push(MtextDecoder* decoder, const MtextTokenizer* tokenizer, uint32_t id,
                           MtextTextSink text);
int32_t mtext_decoder_finish(MtextDecoder* decoder, const MtextTokenizer* tokenizer,
                             MtextTextSink text);

// JSON texts may be empty: none.
typedef struct MtextTemplateInput {
  MtextText messages_json, tools_json, documents_json, variables_json;
  bool add_generation_prompt, continue_final_message;
  bool has_now;  // strftime_now tells `now` (seconds since 1970), else the clock's time
  int64_t now;
} MtextTemplateInput;

int32_t mtext_template_compile(MtextText source, MtextText tokens_json, MtextTemplate** out,
                               MtextTextSink message);
int32_t mtext_template_from_folder(MtextText folder, MtextTemplate** out, MtextTextSink message);
void mtext_template_free(MtextTemplate* chat_template);
MtextText mtext_template_source(const MtextTemplate* chat_template);
bool mtext_template_takes_tools(const MtextTemplate* chat_template);
int32_t mtext_template_render(const MtextTemplate* chat_template, const MtextTemplateInput* input,
                              MtextTextSink text);

// The tokenizer may be freed afterwards.
int32_t mtext_grammar_compiler_new(const MtextTokenizer* tokenizer, MtextGrammarCompiler** out,
                                   MtextTextSink message);
void mtext_grammar_compiler_free(MtextGrammarCompiler* compiler);

enum {
  MTEXT_GRAMMAR_JSON_SCHEMA = 0,
  MTEXT_GRAMMAR_REGEX = 1,
  MTEXT_GRAMMAR_CHOICE = 2,
  MTEXT_GRAMMAR_LARK_OR_GBNF = 3,
  MTEXT_GRAMMAR_STRUCTURAL_TAG = 4,
};
int32_t mtext_grammar_compile(const MtextGrammarCompiler* compiler, int32_t kind, MtextText source,
                              MtextGrammar** out, MtextTextSink message);
void mtext_grammar_free(MtextGrammar* grammar);

MtextGrammarState* mtext_grammar_start(const MtextGrammar* grammar);
void mtext_grammar_state_free(MtextGrammarState* state);
int32_t mtext_grammar_state_fill_mask(MtextGrammarState* state, uint32_t* words, size_t count,
                                      bool* may_end, MtextTextSink message);
int32_t mtext_grammar_state_accept(MtextGrammarState* state, uint32_t token, MtextTextSink message);
int32_t mtext_grammar_state_rollback(MtextGrammarState* state, size_t tokens,
                                     MtextTextSink message);
bool mtext_grammar_state_finished(const MtextGrammarState* state);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-use-using)
