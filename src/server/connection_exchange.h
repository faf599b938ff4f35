// ConnectionExchange: the answer that a connection waits for, as its handler holds it. Internal to
// the HttpServer.
#pragma once

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/http_connection.h"

namespace matador {

// The state is touched on the connection's strand only.
class ConnectionExchange final : public Exchange,
                                 public std::enable_shared_from_this<ConnectionExchange> {
 public:
  explicit ConnectionExchange(std::shared_ptr<Connection> connection)
      : connection_(std::move(connection)) {}

  void respond(HttpResponse response) override {
    on_strand([this, response = std::move(response)]() mutable {
      if (!head) head = std::move(response);
      finished = true;
    });
  }
  void open(HttpResponse response) override {
    on_strand([this, response = std::move(response)]() mutable {
      if (head) return;
      head = std::move(response);
      streamed = true;
    });
  }
  void write(std::string more, std::function<void()> done) override {
    on_strand([this, more = std::move(more), done = std::move(done)]() mutable {
      data += more;
      written.push_back(std::move(done));
    });
  }
  void finish() override {
    on_strand([this] { finished = true; });
  }
  void abort() override {
    boost::asio::dispatch(connection_->executor(), [self = shared_from_this()] {
      if (self->connection_->exchange_ == self) self->connection_->gone();
    });
  }
  void on_gone(std::function<void()> callback) override {
    boost::asio::dispatch(connection_->executor(),
                          [self = shared_from_this(), callback = std::move(callback)]() mutable {
                            if (self->is_gone)
                              callback();
                            else if (!self->complete)
                              self->gone = std::move(callback);
                          });
  }
  void post(std::function<void()> work) override {
    boost::asio::post(connection_->executor(), std::move(work));
  }

  void notice_gone() {
    is_gone = true;
    if (auto callback = std::exchange(gone, nullptr)) callback();
    written.clear();
  }

  std::optional<HttpResponse> head;
  bool streamed = false, finished = false;
  bool is_gone = false, complete = false;
  std::string data;  // to be written
  std::vector<std::function<void()>> written;
  std::function<void()> gone;

 private:
  template <class F>
  void on_strand(F change) {
    boost::asio::dispatch(connection_->executor(),
                          [self = shared_from_this(), change = std::move(change)]() mutable {
                            if (self->is_gone || self->complete) return;
                            change();
                            self->connection_->wake();
                          });
  }

  std::shared_ptr<Connection> connection_;
};

}  // namespace matador
