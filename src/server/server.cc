#include "server/server.h"

#include "server/http_server.h"
#include "server/route.h"
#include "server/service.h"

namespace matador {
namespace {

// What is not a request, or not one that is read to its end.
HttpResponse protocol_error(int status, const std::string& message) {
  ApiError error{.status = status, .message = message};
  if (status == 408) error.message = "The request did not arrive in time";
  if (status == 503) error.type = "service_unavailable_error";
  return error_response(error);
}

}  // namespace

struct Server::Impl {
  std::unique_ptr<Service> service;
  std::unique_ptr<HttpServer> http;  // last, so that it ends while what it calls still exists
};

Result<std::unique_ptr<Server>> Server::start(ServedModel& served, ServerOptions options) {
  if (options.port < 0 || options.port > 65535)
    return invalid_argument("port: expected 0 to 65535, found " + std::to_string(options.port));
  auto created = Service::create(served, std::move(options));
  if (!created.ok()) return created.error();
  auto impl = std::make_unique<Impl>();
  impl->service = std::move(*created);
  Service* service = impl->service.get();
  const ServerOptions& wanted = service->options();
  HttpServerOptions http{
      .host = wanted.host,
      .port = wanted.port,
      .io_threads = wanted.io_threads,
      .limits = wanted.limits,
      .handler =
          [service](HttpRequest request, std::shared_ptr<Exchange> exchange) {
            service->handle(std::move(request), std::move(exchange));
          },
      .body_sink = [service](const HttpRequest& request) { return service->body_sink(request); },
      .error_response = protocol_error,
      .on_signal = nullptr};
  if (wanted.handle_signals) http.on_signal = [service] { service->drain(); };
  auto started = HttpServer::start(std::move(http));
  if (!started.ok()) return started.error();
  impl->http = std::move(*started);
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

int Server::port() const { return impl_->http->port(); }
void Server::wait() { impl_->http->wait(); }
void Server::shutdown() {
  impl_->service->drain();
  impl_->http->drain();
}

}  // namespace matador
