// What operators ask: is it alive, is it ready, what does it do.
#include <array>

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

constexpr std::array kRoutes = {
    Route{"GET", "/health", Access::open, health},
    Route{"GET", "/ready", Access::open, ready},
    Route{"GET", "/version", Access::open, version},
    Route{"GET", "/metrics", Access::open, metrics},
};

}  // namespace

std::span<const Route> control_routes() { return kRoutes; }

}  // namespace matador
