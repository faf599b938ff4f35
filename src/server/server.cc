#include "server/server.h"

#include <algorithm>
#include <atomic>

#include "api/api_model.h"
#include "server/http_server.h"
#include "server/metrics.h"
#include "server/router.h"
#include "server/worker_pool.h"

namespace matador {
namespace {

Status check(const ServerOptions& options) {
  if (options.port < 0 || options.port > 65535)
    return invalid_argument("port: expected 0 to 65535, found " + std::to_string(options.port));
  if (options.io_threads < 1 || options.worker_threads < 1)
    return invalid_argument("io_threads and worker_threads: expected at least 1");
  for (const auto* names : {&options.api_keys, &options.served_model_names})
    if (std::find(names->begin(), names->end(), "") != names->end())
      return invalid_argument("an API key or served model name is empty");
  return {};
}

// What is not a request, or not one that is read to its end.
HttpResponse protocol_error(int status, const std::string& message) {
  ApiError error{.status = status, .message = message};
  if (status == 408) error.message = "The request did not arrive in time";
  if (status == 503) error.type = "service_unavailable_error";
  return error_response(error);
}

}  // namespace

struct Server::Impl {
  Impl(ServedModel& served, ServerOptions o, std::shared_ptr<const ApiModel> m)
      : options(std::move(o)),
        model(std::move(m)),
        metrics(*served.engine, model->name()),
        router({*model, options, *served.engine, metrics, workers, draining}) {}

  void shutdown() {
    draining = true;
    http->drain();
  }

  const ServerOptions options;
  const std::shared_ptr<const ApiModel> model;
  std::atomic<bool> draining = false;
  Metrics metrics;
  Router router;
  WorkerPool workers{options.worker_threads};  // its work calls the router
  std::unique_ptr<HttpServer> http;  // last, so that it ends while what it calls still exists
};

Result<std::unique_ptr<Server>> Server::start(ServedModel& served, ServerOptions options) {
  if (Status status = check(options); !status.ok()) return status.error();
  auto model = ApiModel::make(served, options.served_model_names,
                              options.parse_special_tokens_in_messages, options.dialect);
  if (!model.ok()) return model.error();
  auto impl = std::make_unique<Impl>(served, std::move(options), std::move(*model));
  Impl* self = impl.get();
  HttpServerOptions http{.host = impl->options.host,
                         .port = impl->options.port,
                         .io_threads = impl->options.io_threads,
                         .limits = impl->options.limits,
                         .handler =
                             [self](HttpRequest request, std::shared_ptr<Exchange> exchange) {
                               self->router.handle(std::move(request), std::move(exchange));
                             },
                         .error_response = protocol_error,
                         .on_signal = nullptr};
  if (impl->options.handle_signals) http.on_signal = [self] { self->draining = true; };
  auto started = HttpServer::start(std::move(http));
  if (!started.ok()) return started.error();
  impl->http = std::move(*started);
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

int Server::port() const { return impl_->http->port(); }
void Server::wait() { impl_->http->wait(); }
void Server::shutdown() { impl_->shutdown(); }

}  // namespace matador
