#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace {

// Takes values from the front of the input; zeros and "" when it is used up.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  uint8_t byte() {
    const uint8_t value = rest_.empty() ? 0 : static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(rest_.empty() ? 0 : 1);
    return value;
  }
  std::string line() {
    const std::string text(rest_.substr(0, rest_.find('\n')));
    rest_.remove_prefix(std::min(rest_.size(), text.size() + 1));
    return text;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

matador::GgufVocab vocab_of(Bytes& bytes) {
  matador::GgufVocab vocab;
  const char* models[] = {"gpt2", "llama", "bert", "t5", "other"};
  vocab.model = models[bytes.byte() % 5];
  for (int32_t* id : {&vocab.bos, &vocab.eos, &vocab.unk, &vocab.sep, &vocab.cls, &vocab.eot}) {
    *id = static_cast<int8_t>(bytes.byte());
  }
  const uint8_t flags = bytes.byte();
  vocab.add_bos = (flags & 1) != 0;
  vocab.add_eos = (flags & 2) != 0;
  vocab.add_space_prefix = (flags & 4) != 0;
  vocab.remove_extra_whitespaces = (flags & 8) != 0;
  vocab.pre = bytes.line();
  vocab.precompiled_charsmap = bytes.line();
  while (!bytes.empty()) {
    const uint8_t kind = bytes.byte();
    std::string text = bytes.line();
    if (kind >= 128) {
      vocab.merges.push_back(std::move(text));
      continue;
    }
    vocab.tokens.push_back(std::move(text));
    vocab.types.push_back(kind % 8);
    vocab.scores.push_back(static_cast<float>(kind) - 64);
  }
  return vocab;
}

}  // namespace

// A vocabulary that loads can encode and decode.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes(data, size);
  const auto tokenizer = matador::Tokenizer::from_gguf(vocab_of(bytes));
  if (!tokenizer) return 0;
  for (bool parse : {false, true}) {
    const auto ids = (*tokenizer)->encode("a b <s> \xC3\xA9\xE4\xBD\xA0 42\n", {true, parse});
    if (ids) (void)(*tokenizer)->decode(*ids, parse);
  }
  return 0;
}
