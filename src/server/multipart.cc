#include "server/multipart.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace matador {
namespace {

constexpr size_t kMaxHeaderBytes = 8192;  // of one part
constexpr size_t kMaxBoundary = 70;       // RFC 2046

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// The value of `; name=value` or `; name="value"`, in which a backslash escapes a quote.
std::optional<std::string> parameter(std::string_view header, const std::string& name) {
  std::string lower = lower_case(header);
  for (size_t at = lower.find(name + "="); at != lower.npos; at = lower.find(name + "=", at + 1)) {
    if (at == 0 || (lower[at - 1] != ' ' && lower[at - 1] != ';')) continue;
    std::string_view rest = header.substr(at + name.size() + 1);
    if (!rest.starts_with('"')) return std::string(rest.substr(0, rest.find_first_of("; \t\r\n")));
    std::string value;
    for (size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == '"') return value;
      if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
      value += rest[i];
    }
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> multipart_boundary(std::string_view content_type) {
  if (!lower_case(content_type).starts_with("multipart/form-data")) return std::nullopt;
  auto boundary = parameter(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > kMaxBoundary) return std::nullopt;
  return boundary;
}

MultipartReader::MultipartReader(const std::string& boundary, Handler handler)
    : delimiter_("\r\n--"), handler_(std::move(handler)), buffer_("\r\n") {
  delimiter_ += boundary;  // the first one may have no line before it: hence the buffer
}

void MultipartReader::write(std::string_view piece) {
  if (state_ == State::epilogue || state_ == State::failed) return;
  buffer_ += piece;
  while (step()) {
  }
}

const std::string& MultipartReader::finish() {
  if (state_ != State::epilogue) fail("it ends before its last boundary");
  return error_;
}

// False: more is needed, or nothing is.
bool MultipartReader::step() {
  switch (state_) {
    case State::preamble: return skip_preamble();
    case State::after_boundary: return read_after_boundary();
    case State::headers: return read_headers();
    case State::data: return read_data();
    case State::epilogue:
    case State::failed: break;
  }
  return false;
}

bool MultipartReader::fail(const char* why) {
  if (error_.empty()) error_ = why;
  state_ = State::failed;
  return false;
}

bool MultipartReader::skip_preamble() {
  size_t at = buffer_.find(delimiter_);
  if (at == buffer_.npos) {
    buffer_.erase(0, buffer_.size() - std::min(buffer_.size(), delimiter_.size() - 1));
    return false;
  }
  buffer_.erase(0, at + delimiter_.size());
  state_ = State::after_boundary;
  return true;
}

bool MultipartReader::read_after_boundary() {
  size_t at = buffer_.find_first_not_of(" \t");  // padding is allowed
  if (at == buffer_.npos || buffer_.size() < at + 2) {
    return buffer_.size() > kMaxHeaderBytes ? fail("a boundary is followed by blanks only") : false;
  }
  std::string_view mark = std::string_view(buffer_).substr(at, 2);
  if (mark != "--" && mark != "\r\n") return fail("a boundary is not followed by a line's end");
  state_ = mark == "--" ? State::epilogue : State::headers;
  buffer_.erase(0, mark == "--" ? buffer_.size() : at);  // headers begin with this line's end
  return state_ == State::headers;
}

bool MultipartReader::read_headers() {
  size_t end = buffer_.find("\r\n\r\n");
  if (end == buffer_.npos)
    return buffer_.size() > kMaxHeaderBytes ? fail("a part's headers are too long") : false;
  if (end > kMaxHeaderBytes) return fail("a part's headers are too long");
  FormPart part;
  bool named = false;
  std::string_view headers = std::string_view(buffer_).substr(0, end);
  for (size_t begin = 0; begin < headers.size();) {
    size_t line_end = std::min(headers.find("\r\n", begin), headers.size());
    std::string_view line = headers.substr(begin, line_end - begin);
    begin = line_end + 2;
    if (!lower_case(line).starts_with("content-disposition:")) continue;
    auto name = parameter(line, "name");
    named = name.has_value();
    part = {name.value_or(""), parameter(line, "filename").value_or("")};
  }
  if (!named) return fail("a part has no name");
  buffer_.erase(0, end + 4);
  state_ = State::data;
  handler_.begin(part);
  return true;
}

bool MultipartReader::read_data() {
  size_t at = buffer_.find(delimiter_);
  size_t sure =
      at != buffer_.npos ? at : buffer_.size() - std::min(buffer_.size(), delimiter_.size() - 1);
  if (sure > 0) handler_.data(std::string_view(buffer_).substr(0, sure));
  buffer_.erase(0, sure);
  if (at == buffer_.npos) return false;
  buffer_.erase(0, delimiter_.size());
  handler_.end();
  state_ = State::after_boundary;
  return true;
}

}  // namespace matador
