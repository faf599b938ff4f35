#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/grammar.h"

// The first byte chooses the kind. What compiles can be walked, one token at a time.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto compiler = [] {
    matador::GgufVocab vocab;
    vocab.model = "llama";
    for (int byte = 0; byte < 256; ++byte) {
      const char* digits = "0123456789ABCDEF";
      vocab.tokens.push_back(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">");
      vocab.types.push_back(6);
    }
    vocab.scores.assign(vocab.tokens.size(), 0);
    const auto tokenizer = matador::Tokenizer::from_gguf(vocab);
    return *matador::GrammarCompiler::make(**tokenizer);
  }();
  if (size == 0) return 0;
  matador::GrammarSource source;
  source.kind = static_cast<matador::GrammarSource::Kind>(data[0] % 5);
  source.text.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto grammar = compiler->compile(source);
  if (!grammar) return 0;
  const auto state = (*grammar)->start();
  std::vector<uint32_t> mask(8);
  for (size_t step = 0; step < 16 && !state->finished(); ++step) {
    if (!state->fill_mask(mask)) return 0;
    int32_t token = 0;
    while (token < 256 && (mask[token / 32] >> (token % 32) & 1) == 0) ++token;
    if (token == 256 || !state->accept(token).ok()) return 0;
  }
  return 0;
}
