// What operators ask: is it alive, is it ready, what does it do.
#include <array>

#include "api/abort.h"
#include "api/usage_objects.h"
#include "core/version.h"
#include "server/routes.h"

namespace matador {
namespace {

void health(const RouteContext& context, Visit visit) {
  if (context.engine.healthy()) return visit.answer(std::string(R"({"status":"ok"})"));
  visit.answer(unavailable("The engine has failed", "unhealthy"));
}

void ready(const RouteContext& context, Visit visit) {
  if (context.draining) return visit.answer(unavailable("Shutting down", "shutting_down"));
  health(context, std::move(visit));
}

void version(const RouteContext&, Visit visit) {
  visit.answer(std::string(R"({"version":")") + kVersion + "\"}");
}

void metrics(const RouteContext& context, Visit visit) {
  visit.answer(
      HttpResponse{.body = context.metrics.text(), .content_type = Metrics::content_type()});
}

// As vLLM has it.
void load(const RouteContext& context, Visit visit) {
  visit.answer(R"({"server_load":)" + std::to_string(context.requests.size()) + "}");
}

ApiResult<std::string> abort(const RouteContext& context, const Visit& visit) {
  ApiResult<std::string> id = parse_abort(visit.request.body);
  if (!id.ok()) return id.error();
  return R"({"aborted":)" + std::to_string(context.requests.abort({visit.owner(), *id})) + "}";
}

ApiResult<std::string> usage(const RouteContext& context, const Visit& visit) {
  ApiResult<UsageQuery> query = parse_usage_query(visit.request.query);
  if (!query.ok()) return query.error();
  bool others = query->key && *query->key != visit.owner();
  if (others && !visit.account->tenant().admin)
    return ApiError{.status = 403,
                    .message = "Only an administrator's key may ask for another's usage",
                    .param = "key",
                    .code = "permission_denied",
                    .type = "permission_error"};
  bool all = !query->key && visit.account->tenant().admin;
  std::string owner = query->key.value_or(visit.owner());
  return usage_page_body(
      context.store->usage.between(query->start_time, query->end_time, all ? nullptr : &owner));
}

constexpr std::array kRoutes = {
    Route{"GET", "/health", Access::open, health},
    Route{"GET", "/ready", Access::open, ready},
    Route{"GET", "/version", Access::open, version},
    Route{"GET", "/metrics", Access::open, metrics},
    Route{"GET", "/load", Access::open, load},
    Route{"POST", "/v1/abort", Access::key, later<abort>},
    Route{"GET", "/v1/usage", Access::key, stored<later<usage>>},
};

}  // namespace

std::span<const Route> control_routes() { return kRoutes; }

}  // namespace matador
