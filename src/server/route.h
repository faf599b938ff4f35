// Route: one method and path of the API, and what answers it. A group of routes is one file
// *_routes.cc with a list of them, and a line in router.cc.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/api_model.h"
#include "api/error.h"
#include "server/accounts.h"
#include "server/http.h"
#include "server/metrics.h"
#include "server/request_registry.h"
#include "server/server.h"
#include "server/worker_pool.h"
#include "store/store.h"

namespace matador {

class BatchRunner;

// What routes work with; all of it outlives every visit.
struct RouteContext {
  const ApiModel& model;
  const ServerOptions& options;
  Engine& engine;
  Metrics& metrics;
  WorkerPool& workers;
  RequestRegistry& requests;
  const std::atomic<bool>& draining;
  Store* store;          // null: nothing is kept on disk
  BatchRunner* batches;  // null where there is no store
};

// One request on its way through a route, answered once, now or later, from any thread.
struct Visit {
  HttpRequest request;
  std::shared_ptr<Exchange> exchange;
  HttpHeaders headers = {};    // of every answer to it
  Account* account = nullptr;  // whose key it bears
  bool in_batch = false;       // a line of a batch
  std::string argument = {};   // what stands for the pattern's placeholder

  const std::string& owner() const { return account->tenant().name; }
  void answer(HttpResponse response) const;
  void answer(ApiResult<std::string> body) const;
};

enum class Access : uint8_t {
  open,  // needs no key
  key,
};

struct Route {
  using Action = void (*)(const RouteContext&, Visit);
  struct More {
    // Who takes the request's body as it comes; null, or where it returns null: it is kept whole.
    std::shared_ptr<BodySink> (*body_sink)(const RouteContext&, const HttpRequest&) = nullptr;
    bool in_batches = false;  // lines of batches may call it
  };

  std::string_view method;
  // "/v1/files/{id}/content". At most one placeholder: {id} is one segment, {path} all the rest.
  std::string_view pattern;
  Access access;
  Action action;
  More more = {};

  // What the placeholder stands for in `path`, percent-decoded ("" without one); nothing where the
  // path is another's.
  std::optional<std::string> match(std::string_view path) const;
};

// An action whose work is done on a worker's thread; 500 where it throws.
using RouteWork = ApiResult<std::string> (*)(const RouteContext&, const Visit&);
void answer_later(const RouteContext& context, Visit visit, RouteWork work);
template <RouteWork work>
void later(const RouteContext& context, Visit visit) {
  answer_later(context, std::move(visit), work);
}

ApiError unavailable(std::string message, std::string code);  // 503
ApiError internal_error(const std::exception& fault);         // 500
HttpResponse error_response(const ApiError& error);

// An action that needs the store; 503 where there is none.
template <Route::Action action>
void stored(const RouteContext& context, Visit visit) {
  if (context.store) return action(context, std::move(visit));
  visit.answer(unavailable("This server keeps nothing on disk; it says why when it starts",
                           "no_data_folder"));
}

}  // namespace matador
