// The vocabularies of tools/make_gguf_goldens.py.
#pragma once

#include <string>

#include "corpus.h"
#include "text/tokenizer.h"

namespace matador {

inline std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline GgufVocab read_vocab(const std::string& name) {
  auto json = nlohmann::json::parse(read_file(test_data("gguf/" + name + ".json")));
  GgufVocab vocab;
  vocab.model = json["model"];
  vocab.tokens = json["tokens"];
  vocab.types = json["types"].get<std::vector<int32_t>>();
  vocab.scores = json["scores"].get<std::vector<float>>();
  vocab.merges = json["merges"];
  vocab.bos = json.value("bos", -1);
  vocab.eos = json.value("eos", -1);
  vocab.unk = json.value("unk", -1);
  vocab.sep = json.value("sep", -1);
  if (json.contains("add_bos")) vocab.add_bos = json["add_bos"].get<bool>();
  if (json.contains("add_eos")) vocab.add_eos = json["add_eos"].get<bool>();
  vocab.add_space_prefix = json["add_space_prefix"];
  vocab.remove_extra_whitespaces = json["remove_extra_whitespaces"];
  vocab.precompiled_charsmap = from_hex(json.value("charsmap", ""));
  return vocab;
}

}  // namespace matador
