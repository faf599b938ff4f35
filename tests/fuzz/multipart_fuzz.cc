#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/multipart.h"

namespace {
// What a reader saw of a body that came in pieces of this size: its parts, or its error.
std::string read_in_pieces(std::string_view body, size_t piece) {
  std::string seen;
  matador::MultipartReader reader(
      "b", {.begin = [&](const matador::FormPart& part) { seen += "<" + part.name + ">"; },
            .data = [&](std::string_view some) { seen += some; },
            .end = [&] { seen += "</>"; }});
  for (size_t i = 0; i < body.size(); i += piece) reader.write(body.substr(i, piece));
  return seen + reader.finish();
}
}  // namespace

// Any body, cut anywhere, gives the same parts as the whole, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  if (read_in_pieces(body, 1) != read_in_pieces(body, size + 1)) __builtin_trap();
  return 0;
}
