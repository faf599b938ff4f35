#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/tokenizer.h"

// A model that loads can encode and decode.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view model(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = matador::Tokenizer::from_sentencepiece(model);
  if (!tokenizer) return 0;
  for (bool parse : {false, true}) {
    const auto ids = (*tokenizer)->encode("a b <s> \xC3\xA9\xE4\xBD\xA0 42\n", {true, parse});
    if (ids) (void)(*tokenizer)->decode(*ids, parse);
  }
  return 0;
}
