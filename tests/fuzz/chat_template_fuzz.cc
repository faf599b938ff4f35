#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/chat_template.h"

// A template that compiles renders or says why not, in bounded time and memory.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto compiled = matador::ChatTemplate::compile(source, R"({"bos_token": "<s>"})");
  if (!compiled) return 0;
  matador::ChatTemplateInput input;
  input.messages_json =
      R"([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}])";
  input.tools_json = R"([{"type": "function", "function": {"name": "f"}}])";
  (void)(*compiled)->render(input);
  return 0;
}
