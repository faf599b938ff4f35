// One TCP connection: reads requests, hands them to the handler and writes the answers. Internal
// to the HttpServer.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <memory>
#include <optional>

#include "server/connection_set.h"
#include "server/http_server.h"

namespace matador {

class ConnectionExchange;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Strand>;

  // `options` outlives the connection.
  Connection(Socket socket, const HttpServerOptions& options, ConnectionSet& connections);

  // Serves until the connection ends.
  void start();
  // From any thread: end after the current answer; at once.
  void drain();
  void stop();

  const Strand& executor() const { return strand_; }

 private:
  friend class ConnectionExchange;
  template <class T>
  using Awaitable = boost::asio::awaitable<T, Strand>;

  Awaitable<void> run();
  Awaitable<std::optional<HttpRequest>> read_request();
  struct Head;
  Awaitable<boost::system::error_code> read_body(Head& head);
  Awaitable<bool> wait_for_first_byte();
  Awaitable<void> refuse(int status, std::string message);
  Awaitable<void> answer(HttpRequest request);
  Awaitable<void> answer_stream(const HttpResponse& head);
  Awaitable<bool> write(std::string data);
  Awaitable<void> watch();
  Awaitable<void> stop_watching();
  Awaitable<void> sleep();
  Awaitable<void> close();

  void wake();
  void gone();
  void set_deadline(std::chrono::milliseconds timeout);
  void clear_deadline();
  std::string head_text(const HttpResponse& response, std::optional<size_t> length) const;

  ConnectionSet::Place place_;  // first, so destroyed last
  ConnectionSet& connections_;
  Strand strand_;
  Socket socket_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                    boost::asio::wait_traits<std::chrono::steady_clock>, Strand>
      deadline_, wakeup_;
  const HttpServerOptions& options_;
  boost::beast::flat_buffer buffer_;  // what came and is not yet read: pipelined requests too

  std::shared_ptr<ConnectionExchange> exchange_;  // the request being answered
  bool head_request_ = false, http_1_0_ = false;
  bool keep_alive_ = true;
  bool idle_ = false;    // between requests
  bool linger_ = false;  // the client may still be sending
  bool draining_ = false;
  bool gone_ = false;  // the client, or we gave up on it
  bool watching_ = false, watch_ended_ = true;
  bool timed_out_ = false;
  bool awake_ = false;
  uint64_t deadline_number_ = 0;  // an expiry that was already queued may belong to an older one
};

}  // namespace matador
