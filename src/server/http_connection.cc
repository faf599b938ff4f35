#include "server/http_connection.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <ctime>

#include "server/connection_exchange.h"

namespace matador {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using HeadParser = http::request_parser<http::empty_body>;

constexpr size_t kReadSize = 4096;
constexpr size_t kPieceSize = size_t{64} << 10;     // of a body
constexpr size_t kMaxPipelined = size_t{64} << 10;  // bytes read ahead of the current answer
constexpr auto kLinger = std::chrono::seconds(2);
constexpr size_t kMaxLingerBytes = size_t{64} << 20;

// Completion as a tuple with the error code: a closed connection is no exception here.
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable_t<Connection::Strand>());

std::string http_date() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  size_t n = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, n};
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

HttpRequest to_request(const HeadParser::value_type& message) {
  HttpRequest request;
  request.method = std::string(message.method_string());
  std::string_view target = message.target();
  target = target.substr(0, target.find('#'));
  size_t question = target.find('?');
  request.path = std::string(target.substr(0, question));
  if (question != target.npos) request.query = std::string(target.substr(question + 1));
  for (const auto& field : message)
    request.headers.emplace_back(lower_case(field.name_string()), std::string(field.value()));
  return request;
}

// The status that answers a failed read; 0: none, the client has gone.
int status_of(error_code error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == http::error::body_limit) return 413;
  if (error == http::error::end_of_stream || error == http::error::partial_message) return 0;
  return error.category() == make_error_code(http::error::bad_method).category() ? 400 : 0;
}

std::string explain(int status, size_t body_limit, const HttpServerOptions& options,
                    error_code error) {
  switch (status) {
    case 431:
      return "The request's headers are larger than " +
             std::to_string(options.limits.max_header_bytes) + " bytes";
    case 413: return "The request's body is larger than " + std::to_string(body_limit) + " bytes";
    default: return "The request is not HTTP that can be read: " + error.message();
  }
}

std::string chunk_head(size_t size) {
  constexpr auto kHex = "0123456789abcdef";
  std::string digits;
  for (; size > 0; size /= 16) digits.insert(digits.begin(), kHex[size % 16]);
  return digits + "\r\n";
}

}  // namespace

Connection::Connection(Socket socket, const HttpServerOptions& options, ConnectionSet& connections)
    : place_(connections, this),
      connections_(connections),
      strand_(socket.get_executor()),
      socket_(std::move(socket)),
      deadline_(strand_),
      wakeup_(strand_),
      options_(options) {}

void Connection::start() {
  asio::co_spawn(
      strand_, [self = shared_from_this()] { return self->run(); }, asio::detached);
  if (connections_.draining()) drain();
  if (connections_.stopped()) stop();
}

void Connection::drain() {
  asio::post(strand_, [self = shared_from_this()] {
    self->draining_ = true;
    self->keep_alive_ = false;
    error_code ignored;
    if (self->idle_) self->socket_.cancel(ignored);
  });
}

void Connection::stop() {
  asio::post(strand_, [self = shared_from_this()] { self->gone(); });
}

Connection::Awaitable<void> Connection::run() {
  auto self = shared_from_this();
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  for (;;) {
    std::optional<HttpRequest> request = co_await read_request();
    if (!request) break;
    co_await answer(std::move(*request));
    if (!keep_alive_) break;
  }
  co_await close();
}

Connection::Awaitable<bool> Connection::wait_for_first_byte() {
  if (draining_ || gone_) co_return false;
  idle_ = true;
  set_deadline(options_.limits.idle_timeout);
  auto [error, n] = co_await socket_.async_read_some(buffer_.prepare(kReadSize), kAwait);
  clear_deadline();
  idle_ = false;
  buffer_.commit(n);
  co_return !error;
}

// A request whose headers have been read.
struct Connection::Head {
  HeadParser parser;
  HttpRequest request;
  size_t body_limit = 0;
};

Connection::Awaitable<std::optional<HttpRequest>> Connection::read_request() {
  if (buffer_.size() == 0) {
    bool came = co_await wait_for_first_byte();
    if (!came) co_return std::nullopt;
  }
  Head head;
  head.body_limit = options_.limits.max_body_bytes;
  head.parser.header_limit(static_cast<uint32_t>(options_.limits.max_header_bytes));
  head.parser.body_limit(boost::none);  // known once it is known who takes the body
  set_deadline(options_.limits.header_timeout);
  auto [error, n] = co_await http::async_read_header(socket_, buffer_, head.parser, kAwait);
  if (!error) {
    keep_alive_ = head.parser.keep_alive() && !draining_;
    http_1_0_ = head.parser.get().version() == 10;
    head_request_ = head.parser.get().method() == http::verb::head;
    head.request = to_request(head.parser.get());
    set_deadline(options_.limits.body_timeout);
    error = co_await read_body(head);
  }
  clear_deadline();
  if (error) {
    int status = timed_out_ ? 408 : status_of(error);
    if (status != 0) co_await refuse(status, explain(status, head.body_limit, options_, error));
    co_return std::nullopt;
  }
  co_return std::move(head.request);
}

Connection::Awaitable<error_code> Connection::read_body(Head& head) {
  HttpRequest& request = head.request;
  if (options_.body_sink) request.body_sink = options_.body_sink(request);
  if (request.body_sink) head.body_limit = request.body_sink->max_bytes();
  bool expects = head.parser.get()[http::field::expect] == "100-continue";
  http::request_parser<http::buffer_body> parser(std::move(head.parser));
  parser.body_limit(head.body_limit);
  if (auto length = parser.content_length(); length && *length > head.body_limit)
    co_return error_code(http::error::body_limit);
  if (expects && !parser.is_done()) {
    bool ok = co_await write("HTTP/1.1 100 Continue\r\n\r\n");
    if (!ok) co_return error_code(http::error::end_of_stream);
    set_deadline(options_.limits.body_timeout);
  }
  std::vector<char> piece(parser.is_done() ? 0 : kPieceSize);
  while (!parser.is_done()) {
    auto& body = parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    auto [error, n] = co_await http::async_read(socket_, buffer_, parser, kAwait);
    std::string_view came(piece.data(), piece.size() - body.size);
    if (request.body_sink)
      request.body_sink->write(came);
    else
      request.body += came;
    if (error && error != http::error::need_buffer) co_return error;
    if (request.body_sink) set_deadline(options_.limits.body_timeout);  // it goes on, if slowly
  }
  co_return error_code();
}

Connection::Awaitable<void> Connection::refuse(int status, std::string message) {
  keep_alive_ = false;
  linger_ = true;
  HttpResponse response = options_.error_response(status, message);
  co_await write(head_text(response, response.body.size()) + response.body);
}

Connection::Awaitable<void> Connection::answer(HttpRequest request) {
  auto exchange = std::make_shared<ConnectionExchange>(shared_from_this());
  exchange_ = exchange;
  watching_ = true;
  watch_ended_ = false;
  asio::co_spawn(
      strand_, [self = shared_from_this()] { return self->watch(); }, asio::detached);
  options_.handler(std::move(request), exchange);
  while (!exchange->head && !gone_) co_await sleep();
  if (!gone_ && exchange->streamed) {
    co_await answer_stream(*exchange->head);
  } else if (!gone_) {
    const HttpResponse& response = *exchange->head;
    std::string data = head_text(response, response.body.size());
    // Not a conditional expression inside co_await: g++ 12 destroys its temporary twice.
    if (!head_request_) data += response.body;
    bool ok = co_await write(std::move(data));
    if (!ok) gone();
  }
  exchange->complete = true;
  exchange->gone = nullptr;
  exchange_.reset();
  co_await stop_watching();
}

Connection::Awaitable<void> Connection::answer_stream(const HttpResponse& head) {
  ConnectionExchange& exchange = *exchange_;
  if (http_1_0_) keep_alive_ = false;  // the end of the body is the end of the connection
  bool ok = co_await write(head_text(head, std::nullopt));
  while (ok && !gone_) {
    if (exchange.data.empty()) {
      if (exchange.finished) break;
      co_await sleep();
      continue;
    }
    std::string data = std::exchange(exchange.data, {});
    auto written = std::exchange(exchange.written, {});
    if (!http_1_0_) data = chunk_head(data.size()) + data + "\r\n";
    ok = co_await write(std::move(data));
    if (!ok) break;
    for (auto& done : written) done();
  }
  if (ok && !gone_ && !http_1_0_) ok = co_await write("0\r\n\r\n");
  if (!ok) gone();
}

// Any progress restarts the clock.
Connection::Awaitable<bool> Connection::write(std::string data) {
  for (size_t done = 0; done < data.size();) {
    set_deadline(options_.limits.write_timeout);
    auto [error, n] = co_await socket_.async_write_some(
        asio::buffer(data.data() + done, data.size() - done), kAwait);
    clear_deadline();
    if (error || gone_) co_return false;
    done += n;
  }
  co_return true;
}

// Reads ahead while an answer is made: the only way to see that the client has gone while there
// is nothing to write. What it reads instead is the next request.
Connection::Awaitable<void> Connection::watch() {
  auto self = shared_from_this();
  while (watching_ && buffer_.size() < kMaxPipelined) {
    auto [error, n] = co_await socket_.async_read_some(buffer_.prepare(kReadSize), kAwait);
    buffer_.commit(n);
    if (!error) continue;
    if (watching_) gone();
    break;
  }
  watch_ended_ = true;
  wake();
}

Connection::Awaitable<void> Connection::stop_watching() {
  watching_ = false;
  while (!watch_ended_) {
    error_code ignored;
    socket_.cancel(ignored);
    co_await sleep();
  }
}

Connection::Awaitable<void> Connection::sleep() {
  if (!awake_) {
    wakeup_.expires_at(std::chrono::steady_clock::time_point::max());
    co_await wakeup_.async_wait(kAwait);
  }
  awake_ = false;
}

void Connection::wake() {
  awake_ = true;
  wakeup_.cancel();
}

void Connection::gone() {
  if (std::exchange(gone_, true)) return;
  keep_alive_ = false;
  error_code ignored;
  socket_.close(ignored);
  if (auto exchange = exchange_) exchange->notice_gone();
  wake();
}

Connection::Awaitable<void> Connection::close() {
  error_code ignored;
  if (gone_) co_return;
  socket_.shutdown(Socket::shutdown_send, ignored);
  if (linger_) {  // a reset by what is still unread would take the answer with it
    set_deadline(kLinger);
    for (size_t total = 0; total < kMaxLingerBytes;) {
      buffer_.clear();
      auto [error, n] = co_await socket_.async_read_some(buffer_.prepare(kMaxPipelined), kAwait);
      if (error || timed_out_) break;
      total += n;
    }
    clear_deadline();
  }
  socket_.close(ignored);
}

void Connection::set_deadline(std::chrono::milliseconds timeout) {
  timed_out_ = false;
  deadline_.expires_after(timeout);
  deadline_.async_wait([self = shared_from_this(), number = ++deadline_number_](error_code error) {
    if (error || number != self->deadline_number_) return;
    self->timed_out_ = true;
    error_code ignored;
    self->socket_.cancel(ignored);
  });
}

void Connection::clear_deadline() {
  ++deadline_number_;
  deadline_.cancel();
}

std::string Connection::head_text(const HttpResponse& response,
                                  std::optional<size_t> length) const {
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " " +
                     std::string(http::obsolete_reason(
                         http::int_to_status(static_cast<unsigned>(response.status)))) +
                     "\r\nDate: " + http_date() + "\r\nServer: matador\r\n";
  bool has_body = response.status != 204;
  if (has_body) text += "Content-Type: " + response.content_type + "\r\n";
  if (has_body && length) text += "Content-Length: " + std::to_string(*length) + "\r\n";
  if (!length && !http_1_0_) text += "Transfer-Encoding: chunked\r\n";
  text += keep_alive_ ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
  return text + "\r\n";
}

}  // namespace matador
