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
#include "server/http.h"
#include "server/metrics.h"
#include "server/server.h"
#include "server/worker_pool.h"

namespace matador {

// What routes work with; all of it outlives every visit.
struct RouteContext {
  const ApiModel& model;
  const ServerOptions& options;
  Engine& engine;
  Metrics& metrics;
  WorkerPool& workers;
  const std::atomic<bool>& draining;
};

// One request on its way through a route, answered once, now or later, from any thread.
struct Visit {
  HttpRequest request;
  std::shared_ptr<Exchange> exchange;
  HttpHeaders headers = {};   // of every answer to it
  std::string argument = {};  // what stands for the pattern's placeholder

  void answer(HttpResponse response) const;
  void answer(ApiResult<std::string> body) const;
};

enum class Access : uint8_t {
  open,  // needs no key
  key,
};

struct Route {
  std::string_view method;
  // "/v1/files/{id}/content". At most one placeholder: {id} is one segment, {path} all the rest.
  std::string_view pattern;
  Access access;
  void (*action)(const RouteContext&, Visit);

  // What the placeholder stands for in `path`, percent-decoded ("" without one); nothing where the
  // path is another's.
  std::optional<std::string> match(std::string_view path) const;
};

// Does `work` on a worker's thread and answers with its result, or 500 where it throws.
void answer_later(const RouteContext& context, Visit visit,
                  ApiResult<std::string> (*work)(const RouteContext&, const Visit&));

ApiError unavailable(std::string message, std::string code);  // 503
ApiError internal_error(const std::exception& fault);         // 500
HttpResponse error_response(const ApiError& error);

}  // namespace matador
