// Router: the routes, and what holds for all of them: keys, CORS, HEAD and OPTIONS, errors.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "api/api_model.h"
#include "api/call.h"
#include "api/error.h"
#include "server/http.h"
#include "server/metrics.h"
#include "server/server.h"
#include "server/worker_pool.h"

namespace matador {

class Router {
 public:
  // All must outlive the router.
  struct Parts {
    const ApiModel& model;
    const ServerOptions& options;
    Engine& engine;
    Metrics& metrics;
    WorkerPool& workers;
    const std::atomic<bool>& draining;
  };
  explicit Router(Parts parts) : parts_(parts) {}

  // Answers now or later, from another thread.
  void handle(HttpRequest request, std::shared_ptr<Exchange> exchange) const;

 private:
  struct Visit {
    HttpRequest request;
    std::shared_ptr<Exchange> exchange;
    HttpHeaders headers;  // of every answer to it

    void answer(HttpResponse response) const;
    void answer(ApiResult<std::string> body) const;
  };
  struct Route;
  static const std::array<Route, 10>& routes();
  static std::string allowed_methods(std::string_view path);
  template <ApiResult<Call> (*prepare)(std::string_view, const ApiModel&)>
  void generate(Visit visit) const;
  template <ApiResult<std::string> (*make)(std::string_view, const ApiModel&)>
  void compute(Visit visit) const;
  void health(Visit visit) const;
  void ready(Visit visit) const;
  void version(Visit visit) const;
  void metrics(Visit visit) const;
  void models(Visit visit) const;
  void model(Visit visit) const;
  void options(Visit visit) const;

  Parts parts_;
};

}  // namespace matador
