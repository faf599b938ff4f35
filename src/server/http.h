// HTTP as this room speaks of it: values, and an Exchange to answer through. No library's types.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace matador {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// Takes a request's body as it comes, instead of HttpRequest::body. Called on the connection's
// thread, so it must not take long.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual size_t max_bytes() const = 0;  // more: 413
  // Never throws: what goes wrong is told by the answer, once all has come.
  virtual void write(std::string_view piece) noexcept = 0;
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // without the query
  std::string query;   // what follows the '?', as it came
  std::string body;
  HttpHeaders headers;                       // names in lower case
  std::shared_ptr<BodySink> body_sink = {};  // that took the body; null: it is in `body`

  std::string_view header(std::string_view lower_case_name) const;  // "" where absent
};

struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  HttpHeaders headers = {};
};

// One request waiting for its answer: respond() once, or open(), write() and finish(). Callable
// from any thread; callbacks come on the connection's own, one at a time. Calls after the client
// has gone do nothing.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual void respond(HttpResponse response) = 0;
  // Starts a body of unknown length; `head.body` is ignored.
  virtual void open(HttpResponse head) = 0;
  // `written` is called once the data has left: write no more before, or it piles up.
  virtual void write(std::string data, std::function<void()> written) = 0;
  virtual void finish() = 0;
  // Closes the connection at once; counts as gone.
  virtual void abort() = 0;

  // Calls `gone` when the client hangs up before its answer is complete, which is noticed also
  // while nothing is written. At most once.
  virtual void on_gone(std::function<void()> gone) = 0;
  // Runs `work` on the connection's thread.
  virtual void post(std::function<void()> work) = 0;
};

}  // namespace matador
