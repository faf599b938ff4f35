#include "server/router.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "server/cors.h"
#include "server/routes.h"

namespace matador {
namespace {

const std::vector<Route>& all_routes() {
  static const std::vector<Route> kAll = [] {
    std::vector<Route> all;
    for (auto group :
         {control_routes(), model_routes(), generation_routes(), file_routes(), batch_routes()})
      all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
  return kAll;
}

struct Match {
  const Route* route = nullptr;
  std::string argument = {};
};

Match find_route(std::string_view method, std::string_view path) {
  if (method == "HEAD") method = "GET";
  for (const Route& route : all_routes()) {
    if (route.method != method) continue;
    if (auto argument = route.match(path)) return {&route, std::move(*argument)};
  }
  return {};
}

// As the Allow header has them; "": there is no such path.
std::string allowed_methods(std::string_view path) {
  std::string allowed;
  for (const Route& route : all_routes()) {
    if (!route.match(path)) continue;
    allowed += std::string(route.method) + (route.method == "GET" ? ", HEAD, " : ", ");
  }
  return allowed.empty() ? "" : allowed + "OPTIONS";
}

}  // namespace

bool is_batch_endpoint(std::string_view path) {
  const Route* route = find_route("POST", path).route;
  return route && route->more.in_batches;
}

// Null: nobody who may call it.
Account* Router::account_of(const HttpRequest& request, const Route* route) const {
  bool open = !accounts_.needs_key() || (route && route->access == Access::open);
  Account* found = accounts_.find(request.header("authorization"));
  return found || !open ? found : &accounts_.of("");
}

void Router::handle(HttpRequest request, std::shared_ptr<Exchange> exchange) const {
  HttpHeaders cors = cors_headers(request, context_.options.cors_origins);
  Visit visit{std::move(request), std::move(exchange), std::move(cors)};
  if (visit.request.method == "OPTIONS") return options(std::move(visit));

  Match match = find_route(visit.request.method, visit.request.path);
  visit.account = account_of(visit.request, match.route);
  if (!visit.account) {
    visit.headers.emplace_back("WWW-Authenticate", "Bearer");
    return visit.answer(ApiError{
        .status = 401,
        .message = "An API key is needed, as in 'Authorization: Bearer KEY', and it must be right",
        .code = "invalid_api_key"});
  }
  if (!match.route) return refuse(std::move(visit));
  visit.argument = std::move(match.argument);
  match.route->action(context_, std::move(visit));
}

void Router::handle_line(HttpRequest request, std::shared_ptr<Exchange> exchange,
                         const std::string& owner) const {
  Match match = find_route(request.method, request.path);
  Visit visit{std::move(request), std::move(exchange)};
  visit.account = &accounts_.of(owner);
  visit.in_batch = true;
  if (!match.route || !match.route->more.in_batches) return refuse(std::move(visit));
  match.route->action(context_, std::move(visit));
}

std::shared_ptr<BodySink> Router::body_sink(const HttpRequest& request) const {
  const Route* route = find_route(request.method, request.path).route;
  if (!route || !route->more.body_sink || !account_of(request, route)) return nullptr;
  return route->more.body_sink(context_, request);
}

void Router::refuse(Visit visit) const {
  std::string what = visit.request.method + " " + visit.request.path;
  std::string allowed = allowed_methods(visit.request.path);
  if (allowed.empty())
    return visit.answer(
        ApiError{.status = 404, .message = "There is no route " + what, .code = "unknown_url"});
  visit.headers.emplace_back("Allow", allowed);
  visit.answer(ApiError{.status = 405,
                        .message = "There is no route " + what + "; this one takes " + allowed,
                        .code = "method_not_allowed"});
}

void Router::options(Visit visit) const {
  visit.headers = preflight_headers(visit.request, context_.options.cors_origins);
  if (std::string allowed = allowed_methods(visit.request.path); !allowed.empty())
    visit.headers.emplace_back("Allow", allowed);
  visit.answer(HttpResponse{.status = 204});
}

}  // namespace matador
