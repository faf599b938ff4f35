// CHECK(condition) << "context": aborts on a programmer's error. Nothing a request or a file
// contains may reach one; the fuzz targets hold us to that.
#pragma once

#include <sstream>

namespace matador {

class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();
  template <class T>
  CheckFailure& operator<<(const T& value) {
    message_ << value;
    return *this;
  }

 private:
  std::ostringstream message_;
};

}  // namespace matador

#define CHECK(condition) \
  while (!(condition)) ::matador::CheckFailure(__FILE__, __LINE__, #condition)
