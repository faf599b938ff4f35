#include "api/call_ids.h"

#include <random>
#include <string_view>

namespace matador {
namespace {

std::string random_word(int size) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string word;
  for (int i = 0; i < size; ++i) word += kLetters[random() % kLetters.size()];
  return word;
}

}  // namespace

std::string CallIdMaker::make(const std::string& name, int32_t call) const {
  switch (style_) {
    case CallIds::mistral: return random_word(9);
    case CallIds::kimi: return "functions." + name + ":" + std::to_string(num_earlier_ + call);
    case CallIds::openai: break;
  }
  return "call_" + random_word(24);
}

}  // namespace matador
