// The corpus of tools/make_text_corpus.py and the references of tools/make_text_goldens.py.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace matador {

inline std::string test_data(const std::string& path) {
  return std::string(MATADOR_TEST_DATA) + "/text/" + path;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

inline const std::vector<std::string>& corpus() {
  static const std::vector<std::string> lines = [] {
    std::vector<std::string> read;
    std::ifstream file(test_data("corpus.jsonl"));
    for (std::string line; std::getline(file, line);) read.push_back(nlohmann::json::parse(line));
    return read;
  }();
  return lines;
}

// FNV-1a of 64 bits, folded to 32.
inline std::string hash_bytes(std::string_view bytes) {
  uint64_t value = 0xCBF29CE484222325;
  for (unsigned char byte : bytes) value = (value ^ byte) * 0x100000001B3;
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(value >> 32 ^ value));
  return text;
}

inline std::string hash_ids(std::span<const int32_t> ids) {
  return hash_bytes({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
}

// What a reference says of one line: hashes, "-" where it says nothing; a few lines have the ids.
struct Golden {
  std::string ids, plain, text;
  std::vector<int32_t> full;
};

inline std::vector<Golden> goldens(const std::string& path) {
  std::vector<Golden> read;
  std::ifstream file(test_data(path));
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    Golden golden;
    fields >> golden.ids >> golden.plain >> golden.text;
    for (int32_t id; fields >> id;) golden.full.push_back(id);
    read.push_back(std::move(golden));
  }
  return read;
}

}  // namespace matador
