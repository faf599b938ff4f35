#include "server/http_server.h"

#include <sys/resource.h>

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "server/http_connection.h"

namespace matador {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// Each connection is a file; the usual soft limit of 1024 is below what a server may hold.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

struct HttpServer::Impl {
  explicit Impl(HttpServerOptions o) : options(std::move(o)) {}

  Status listen();
  void run();
  asio::awaitable<void> accept();
  void turn_away(Connection::Socket socket);
  void wait_for_signal();
  void drain();
  void stop();
  void close_acceptor();
  void wait();

  HttpServerOptions options;
  asio::io_context io;
  // Everything below but `connections` is touched on the strand only.
  asio::strand<asio::io_context::executor_type> strand{io.get_executor()};
  tcp::acceptor acceptor{strand};
  asio::signal_set signals{strand};
  asio::steady_timer drain_timer{strand};
  int num_signals = 0;
  int port = 0;
  bool closing = false;
  ConnectionSet connections;
  std::vector<std::thread> threads;
  // wait() sleeps until drain() or stop().
  std::mutex mutex;
  std::condition_variable ending;
  bool ended = false;
};

Status HttpServer::Impl::listen() {
  auto refused = [this](const error_code& error) {
    return Error{ErrorCode::io, "cannot listen on " + options.host + " port " +
                                    std::to_string(options.port) + ": " + error.message()};
  };
  error_code error;
  tcp::resolver resolver(io);
  auto found =
      resolver.resolve(options.host, std::to_string(options.port), tcp::resolver::passive, error);
  if (error) return refused(error);
  tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return refused(error);
  port = acceptor.local_endpoint().port();
  return {};
}

void HttpServer::Impl::run() {
  asio::co_spawn(strand, accept(), asio::detached);
  if (options.on_signal) {
    signals.add(SIGINT);
    signals.add(SIGTERM);
    wait_for_signal();
  }
  for (int i = 0; i < options.io_threads; ++i)
    threads.emplace_back([this] {
      auto work = asio::make_work_guard(io);
      io.run();
    });
}

asio::awaitable<void> HttpServer::Impl::accept() {
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(asio::make_strand(io), kAwait);
    if (closing) break;
    if (error) {  // out of files, most likely: give connections time to end
      asio::steady_timer pause(strand, std::chrono::milliseconds(100));
      co_await pause.async_wait(kAwait);
    } else if (connections.size() >= options.limits.max_connections) {
      turn_away(std::move(socket));
    } else {
      std::make_shared<Connection>(std::move(socket), options, connections)->start();
    }
  }
}

// Says why, if that can be done without waiting.
void HttpServer::Impl::turn_away(Connection::Socket socket) {
  HttpResponse response = options.error_response(503, "Too many connections");
  std::string text =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
      "Connection: close\r\nContent-Length: " +
      std::to_string(response.body.size()) + "\r\n\r\n" + response.body;
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(text), ignored);
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

void HttpServer::Impl::wait_for_signal() {
  signals.async_wait([this](error_code error, int signal) {
    if (error) return;
    if (++num_signals > 1) std::_Exit(128 + signal);
    options.on_signal();
    drain();
    wait_for_signal();
  });
}

void HttpServer::Impl::close_acceptor() {
  closing = true;
  error_code ignored;
  acceptor.close(ignored);
}

void HttpServer::Impl::drain() {
  asio::post(strand, [this] {
    if (closing) return;
    close_acceptor();
    connections.drain_all();
    drain_timer.expires_after(options.limits.drain_timeout);
    drain_timer.async_wait([this](error_code error) {
      if (!error) connections.stop_all();
    });
    std::lock_guard lock(mutex);
    ended = true;
    ending.notify_all();
  });
}

void HttpServer::Impl::stop() {
  asio::post(strand, [this] {
    close_acceptor();
    connections.stop_all();
    std::lock_guard lock(mutex);
    ended = true;
    ending.notify_all();
  });
}

void HttpServer::Impl::wait() {
  {
    std::unique_lock lock(mutex);
    ending.wait(lock, [this] { return ended; });
  }
  connections.wait_until_empty();
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpServerOptions options) {
  raise_file_limit();
  auto impl = std::make_unique<Impl>(std::move(options));
  if (Status status = impl->listen(); !status.ok()) return status.error();
  impl->run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  impl_->stop();
  impl_->wait();
  impl_->io.stop();
  for (std::thread& thread : impl_->threads) thread.join();
}

int HttpServer::port() const { return impl_->port; }
void HttpServer::drain() { impl_->drain(); }
void HttpServer::stop() { impl_->stop(); }
void HttpServer::wait() { impl_->wait(); }

}  // namespace matador
