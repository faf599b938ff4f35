// What a Tokenizer holds. Only the .cc files of this room include it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/ffi.h"
#include "text/tokenizer.h"

namespace matador {

struct Tokenizer::Impl {
  TokenizerHandle handle;
  int32_t bos = -1;
  std::vector<int32_t> eos;

  // Calls `load(out, message)` and takes what it made.
  template <class Load>
  static Result<std::shared_ptr<const Tokenizer>> load(Load load) {
    MtextTokenizer* made = nullptr;
    std::string message;
    if (int32_t status = load(&made, sink_into(message)); status != MTEXT_OK) {
      return error_of(status, std::move(message));
    }
    auto impl = std::make_unique<Impl>();
    impl->handle.reset(made);
    impl->bos = static_cast<int32_t>(mtext_bos_id(made));
    mtext_eos_ids(made, sink_into(impl->eos));
    return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(impl)));
  }
};

}  // namespace matador
