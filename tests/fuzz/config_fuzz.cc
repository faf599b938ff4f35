#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/config.h"

// What was parsed can be read by every accessor, printed and parsed again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = matador::Config::parse(text, "fuzz");
  if (!config) return 0;
  for (const std::string& key : config->keys()) {
    (void)config->has(key);
    (void)config->integer(key);
    (void)config->number(key);
    (void)config->boolean(key);
    (void)config->text(key);
    (void)config->numbers(key);
    (void)config->integers(key);
    (void)config->texts(key);
    if (const auto inner = config->object(key)) (void)inner->dump();
  }
  if (!matador::Config::parse(config->dump(), "again")) __builtin_trap();
  return 0;
}
