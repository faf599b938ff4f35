// What the C++ side of the Rust crate shares: borrowed texts, sinks into strings, and statuses as
// errors. Only the .cc files of this room include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "text/mtext.h"

namespace matador {

inline MtextText borrow(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(MtextText text) { return {text.data, text.size}; }

inline MtextTextSink sink_into(std::string& text) {
  return {&text, [](void* context, const char* data, size_t size) {
            static_cast<std::string*>(context)->assign(data, size);
          }};
}

inline MtextIdSink sink_into(std::vector<int32_t>& ids) {
  return {&ids, [](void* context, const uint32_t* data, size_t count) {
            static_cast<std::vector<int32_t>*>(context)->assign(data, data + count);
          }};
}

inline Error error_of(int32_t status, std::string message) {
  switch (status) {
    case MTEXT_INVALID: return {ErrorCode::invalid_argument, std::move(message)};
    case MTEXT_NOT_FOUND: return {ErrorCode::not_found, std::move(message)};
    case MTEXT_UNSUPPORTED: return {ErrorCode::unsupported, std::move(message)};
    case MTEXT_IO: return {ErrorCode::io, std::move(message)};
    default: return {ErrorCode::internal, std::move(message)};
  }
}

template <auto kFree>
struct Freer {
  void operator()(auto* object) const { kFree(object); }
};

using TokenizerHandle = std::unique_ptr<MtextTokenizer, Freer<mtext_tokenizer_free>>;
using DecoderHandle = std::unique_ptr<MtextDecoder, Freer<mtext_decoder_free>>;
using TemplateHandle = std::unique_ptr<MtextTemplate, Freer<mtext_template_free>>;
using GrammarCompilerHandle =
    std::unique_ptr<MtextGrammarCompiler, Freer<mtext_grammar_compiler_free>>;
using GrammarHandle = std::unique_ptr<MtextGrammar, Freer<mtext_grammar_free>>;
using GrammarStateHandle = std::unique_ptr<MtextGrammarState, Freer<mtext_grammar_state_free>>;

}  // namespace matador
