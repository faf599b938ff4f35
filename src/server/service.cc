#include "server/service.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "api/api_model.h"
#include "server/accounts.h"
#include "server/batch_runner.h"
#include "server/metrics.h"
#include "server/request_registry.h"
#include "server/router.h"
#include "server/worker_pool.h"

namespace matador {
namespace {

Status check(const ServerOptions& options) {
  if (options.io_threads < 1 || options.worker_threads < 1)
    return invalid_argument("io_threads and worker_threads: expected at least 1");
  for (const auto* names : {&options.api_keys, &options.served_model_names})
    if (std::find(names->begin(), names->end(), "") != names->end())
      return invalid_argument("an API key or served model name is empty");
  return {};
}

std::vector<Tenant> all_tenants(const ServerOptions& options) {
  std::vector<Tenant> all = options.tenants;
  for (const std::string& key : options.api_keys)
    all.push_back({.name = "", .key = key, .admin = true});
  return all;
}

}  // namespace

struct Service::Impl {
  Impl(ServedModel& served, ServerOptions o, std::shared_ptr<const ApiModel> m)
      : options(std::move(o)),
        model(std::move(m)),
        accounts(all_tenants(options)),
        metrics(*served.engine, model->name()) {
    if (options.store) batches.emplace(*options.store, options.batch_width, draining);
    router.emplace(RouteContext{*model, options, *served.engine, metrics, workers, requests,
                                draining, options.store, batches ? &*batches : nullptr},
                   accounts);
    if (!batches) return;
    batches->start(
        [this](HttpRequest request, std::shared_ptr<Exchange> exchange, const std::string& owner) {
          router->handle_line(std::move(request), std::move(exchange), owner);
        });
  }

  const ServerOptions options;
  const std::shared_ptr<const ApiModel> model;
  std::atomic<bool> draining = false;
  Accounts accounts;
  Metrics metrics;
  RequestRegistry requests;
  std::optional<Router> router;
  WorkerPool workers{options.worker_threads};  // its work calls all of the above
  std::optional<BatchRunner> batches;          // and this calls the router
};

Result<std::unique_ptr<Service>> Service::create(ServedModel& served, ServerOptions options) {
  if (Status status = check(options); !status.ok()) return status.error();
  auto model = ApiModel::make(served, options.served_model_names,
                              options.parse_special_tokens_in_messages, options.dialect);
  if (!model.ok()) return model.error();
  return std::unique_ptr<Service>(
      new Service(std::make_unique<Impl>(served, std::move(options), std::move(*model))));
}

Service::Service(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Service::~Service() = default;

const ServerOptions& Service::options() const { return impl_->options; }

void Service::handle(HttpRequest request, std::shared_ptr<Exchange> exchange) const {
  impl_->router->handle(std::move(request), std::move(exchange));
}

void Service::handle_line(HttpRequest request, std::shared_ptr<Exchange> exchange,
                          const std::string& owner) const {
  impl_->router->handle_line(std::move(request), std::move(exchange), owner);
}

std::shared_ptr<BodySink> Service::body_sink(const HttpRequest& request) const {
  return impl_->router->body_sink(request);
}

void Service::drain() { impl_->draining = true; }

}  // namespace matador
