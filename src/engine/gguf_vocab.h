// The tokenizer.ggml.* metadata of a GGUF file as the text room takes it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/result.h"
#include "text/tokenizer.h"
#include "weights/gguf.h"

namespace matador {

// not_found: the file has no vocabulary.
Result<GgufVocab> gguf_vocab(const GgufFile& file);

// The tokens that end a generation: EOS, end of turn and end of message. Files made before those
// keys existed have the tokens but do not say so; they are known by their spelling.
std::vector<int32_t> gguf_eos_tokens(const GgufVocab& vocab);

}  // namespace matador
