// HttpServer: HTTP/1.1 over TCP with limits, timeouts, keep-alive, pipelining, streamed answers
// and notice of clients that leave. Knows no routes. The only users of Boost are its .cc files.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/result.h"
#include "server/http.h"
#include "server/server.h"

namespace matador {

struct HttpServerOptions {
  std::string host;
  int port = 0;
  int io_threads = 1;
  ServerLimits limits;
  std::function<void(HttpRequest, std::shared_ptr<Exchange>)> handler;
  // For a request whose headers have come: who takes its body. Null: it is kept in memory, within
  // limits.max_body_bytes.
  std::function<std::shared_ptr<BodySink>(const HttpRequest&)> body_sink = {};
  // The answer to what is not a request: bad syntax, limits, timeouts.
  std::function<HttpResponse(int status, const std::string& message)> error_response;
  // SIGINT or SIGTERM came, which calls drain(); a second ends the process at once. Null: signals
  // are left alone.
  std::function<void()> on_signal;
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> start(HttpServerOptions options);
  ~HttpServer();  // stop() and wait()

  int port() const;
  // No more connections; open ones end after the answer they wait for, and all after
  // limits.drain_timeout.
  void drain();
  // Closes all connections now.
  void stop();
  // Until drained or stopped.
  void wait();

  struct Impl;

 private:
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace matador
