#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/multipart.h"

// Any body, cut anywhere, gives the same parts as the whole, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  std::string seen[2];
  for (size_t piece : {size_t{1}, size + 1}) {
    std::string& text = seen[piece == 1 ? 0 : 1];
    matador::MultipartReader reader(
        "b", {.begin = [&](const matador::FormPart& part) { text += "<" + part.name + ">"; },
              .data = [&](std::string_view some) { text += some; },
              .end = [&] { text += "</>"; }});
    for (size_t i = 0; i < size; i += piece) reader.write(body.substr(i, piece));
    text += reader.finish();
  }
  if (seen[0] != seen[1]) __builtin_trap();
  return 0;
}
