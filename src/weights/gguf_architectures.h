// What GGUF calls the architectures, and how their files differ from Hugging Face's.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace matador {

struct GgufArchitecture {
  std::string_view gguf;
  std::string_view model_type;
  std::string_view architecture;
  bool rope_interleaved = false;  // rows of q and k were permuted, to rotate neighbours
  bool norms_include_offset = false;
  // The number of layers at which attention is scaled by hidden_size / num_attention_heads and
  // not by head_dim; the file does not say. 0: never.
  int64_t layers_scaled_by_width = 0;
  // config.json's keys, as JSON, whose values are the same in all files.
  std::string_view constants = "{}";
};

// A metadata key of one architecture, and the config key for the same value.
struct GgufOwnKey {
  std::string_view architecture;
  std::string_view gguf;
  std::string_view config;
};

// A flag of config.json that shows in whether a file has a tensor.
struct GgufTensorFlag {
  std::string_view architecture;
  std::string_view tensor;
  std::string_view config;
  bool if_present = true;
};

// Empty fields where it is not known.
GgufArchitecture find_gguf_architecture(std::string_view name);
std::span<const GgufOwnKey> gguf_own_keys();
std::span<const GgufTensorFlag> gguf_tensor_flags();

}  // namespace matador
