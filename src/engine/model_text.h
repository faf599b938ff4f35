// The text side of a checkpoint: its tokenizer, chat template and end tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "engine/served_model.h"

namespace matador {

// `path` is a folder or a .gguf file, as resolve_model returns it. A model without a tokenizer or
// template is no error; one whose tokenizer cannot be read is.
struct OpenedText {
  ModelText text;
  std::vector<int32_t> eos_token_ids;  // as the tokenizer's files name them
};
Result<OpenedText> open_model_text(const std::string& path, const ServeOptions& options);

}  // namespace matador
