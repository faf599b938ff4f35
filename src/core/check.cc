#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace matador {

CheckFailure::CheckFailure(const char* file, int line, const char* condition) {
  message_ << file << ':' << line << ": CHECK(" << condition << ") failed. ";
}

CheckFailure::~CheckFailure() {
  std::fprintf(stderr, "%s\n", message_.str().c_str());
  std::abort();
}

}  // namespace matador
