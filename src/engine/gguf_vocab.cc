#include "engine/gguf_vocab.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

namespace matador {

namespace {

constexpr int32_t kControlToken = 3;

// Spellings of end-of-turn tokens in published vocabularies.
constexpr std::array<std::string_view, 8> kTurnEnds = {
    "<|eot_id|>", "<|im_end|>", "<|end|>",         "<end_of_turn>",
    "<|eom_id|>", "<EOT>",      "<|end_of_turn|>", "<|endofturn|>",
};

std::vector<int32_t> narrow(const std::vector<int64_t>& values) {
  std::vector<int32_t> narrowed;
  narrowed.reserve(values.size());
  for (int64_t value : values) narrowed.push_back(static_cast<int32_t>(value));
  return narrowed;
}

}  // namespace

Result<GgufVocab> gguf_vocab(const GgufFile& file) {
  const std::string prefix = "tokenizer.ggml.";
  auto text = [&](const char* key) { return file.text(prefix + key).value_or(""); };
  auto flag = [&](const char* key, bool absent) {
    return file.boolean(prefix + key).value_or(absent);
  };
  auto token = [&](const char* key) {
    return static_cast<int32_t>(file.integer(prefix + key).value_or(-1));
  };
  GgufVocab vocab;
  vocab.model = text("model");
  vocab.pre = text("pre");
  vocab.tokens = file.texts(prefix + "tokens").value_or(std::vector<std::string>());
  if (vocab.tokens.empty()) return not_found(file.source() + ": no tokenizer.ggml.tokens");
  for (double score : file.numbers(prefix + "scores").value_or(std::vector<double>())) {
    vocab.scores.push_back(static_cast<float>(score));
  }
  vocab.types = narrow(file.integers(prefix + "token_type").value_or(std::vector<int64_t>()));
  vocab.merges = file.texts(prefix + "merges").value_or(std::vector<std::string>());
  vocab.bos = token("bos_token_id");
  vocab.eos = token("eos_token_id");
  vocab.unk = token("unknown_token_id");
  vocab.sep = token("seperator_token_id");  // spelt so in the format
  vocab.pad = token("padding_token_id");
  vocab.cls = token("cls_token_id");
  vocab.mask = token("mask_token_id");
  vocab.eot = token("eot_token_id");
  vocab.eom = token("eom_token_id");
  vocab.add_bos = file.boolean(prefix + "add_bos_token");
  vocab.add_eos = file.boolean(prefix + "add_eos_token");
  vocab.add_space_prefix = flag("add_space_prefix", true);
  vocab.remove_extra_whitespaces = flag("remove_extra_whitespaces", false);
  for (int64_t byte :
       file.integers(prefix + "precompiled_charsmap").value_or(std::vector<int64_t>())) {
    vocab.precompiled_charsmap.push_back(static_cast<char>(byte));
  }
  vocab.chat_template = file.text("tokenizer.chat_template").value_or("");
  return vocab;
}

std::vector<int32_t> gguf_eos_tokens(const GgufVocab& vocab) {
  std::set<int32_t> ends = {vocab.eos, vocab.eot, vocab.eom};
  for (size_t id = 0; id < vocab.tokens.size() && id < vocab.types.size(); ++id) {
    if (vocab.types[id] != kControlToken) continue;
    bool ends_turn = std::ranges::find(kTurnEnds, vocab.tokens[id]) != kTurnEnds.end();
    if (ends_turn) ends.insert(static_cast<int32_t>(id));
  }
  ends.erase(-1);
  return {ends.begin(), ends.end()};
}

}  // namespace matador
