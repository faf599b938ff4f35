// Result<T>: a value or an Error, for everything that users and files can get wrong.
//
// Three kinds of failure exist in this code and no fourth:
//  - users and files: Result / Status, returned, never thrown;
//  - device and OS: exceptions, caught at load and in Engine::step;
//  - programmer: CHECK (core/check.h), which aborts.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/check.h"

namespace matador {

enum class ErrorCode {
  invalid_argument,  // the caller's input is wrong: a field, a file's content
  not_found,         // a file, model, tensor or route does not exist
  unsupported,       // valid, but this build cannot do it
  out_of_memory,     // does not fit; the message has the arithmetic
  io,                // the operating system refused
  unavailable,       // shutting down or overloaded; try again later
  internal,          // a fault of ours
};

// What went wrong. The message names the field or file, what was found and what was expected.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

inline Error invalid_argument(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}
inline Error not_found(std::string message) { return {ErrorCode::not_found, std::move(message)}; }
inline Error unsupported(std::string message) {
  return {ErrorCode::unsupported, std::move(message)};
}

// A room whose errors say more than Error brings its own E, which has a `message` too.
template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(E error) : value_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    CHECK(ok()) << error().message;
    return std::get<0>(value_);
  }
  const T& value() const& {
    CHECK(ok()) << error().message;
    return std::get<0>(value_);
  }
  T&& value() && {
    CHECK(ok()) << error().message;
    return std::get<0>(std::move(value_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const E& error() const { return std::get<1>(value_); }

 private:
  std::variant<T, E> value_;
};

// The Result of something that has no value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace matador
