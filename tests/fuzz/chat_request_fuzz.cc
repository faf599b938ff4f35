#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/call.h"
#include "api/error.h"

// Any body is answered: by a call, or by an error that prints. Without a tokenizer the parse is
// all that happens.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static matador::ServedModel served;
  matador::ApiModel model;
  model.served = &served;
  model.names = {"m"};
  model.call_format = matador::detect_call_format("");
  model.vocab_size = 1000;
  model.max_model_len = 4096;
  model.control_tokens = matador::ControlTokens({"<s>", "<|im_end|>"});
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  auto call = matador::prepare_chat(body, model);
  if (call.ok() || matador::error_body(call.error()).empty()) __builtin_trap();
  return 0;
}
