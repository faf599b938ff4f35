// MultipartReader: multipart/form-data as it comes, in pieces of any size, without holding the
// parts' contents. RFC 7578 and RFC 2046, section 5.1.
//
// Not synchronised.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace matador {

struct FormPart {
  std::string name;      // of the field
  std::string filename;  // "" where the part is no file
};

class MultipartReader {
 public:
  struct Handler {
    std::function<void(const FormPart&)> begin;
    std::function<void(std::string_view)> data;  // of the part that began last
    std::function<void()> end;
  };

  // `boundary` as multipart_boundary() returns it.
  MultipartReader(const std::string& boundary, Handler handler);

  void write(std::string_view piece);
  // After the last piece: what is wrong with the body, or "".
  const std::string& finish();

 private:
  enum class State : uint8_t { preamble, after_boundary, headers, data, epilogue, failed };

  bool step();
  bool skip_preamble();
  bool read_after_boundary();
  bool read_headers();
  bool read_data();
  bool fail(const char* why);

  std::string delimiter_;  // "\r\n--boundary"
  Handler handler_;
  State state_ = State::preamble;
  std::string buffer_;  // came and is not yet used; bounded by the headers' limit
  std::string error_;
};

// The boundary that a Content-Type of multipart/form-data names; nothing for any other.
std::optional<std::string> multipart_boundary(std::string_view content_type);

}  // namespace matador
