#include "server/router.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/version.h"
#include "server/access.h"
#include "server/generation_job.h"

namespace matador {
namespace {

constexpr std::string_view kModelPrefix = "/v1/models/";

ApiError unavailable(std::string message, std::string code) {
  return {.status = 503,
          .message = std::move(message),
          .code = std::move(code),
          .type = "service_unavailable_error"};
}

// "%2F" and the like; what is not an escape stays.
std::string percent_decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

ApiError internal_error(const std::exception& e) {
  return {.status = 500, .message = e.what(), .code = "internal_error", .type = "server_error"};
}

}  // namespace

struct Router::Route {
  std::string_view method, path;  // a path that ends in '/' stands for all below it
  bool open = false;              // needs no key
  void (Router::*action)(Visit) const;

  bool matches(std::string_view p) const {
    return path == p || (path.ends_with('/') && p.size() > path.size() && p.starts_with(path));
  }
};

namespace {

template <class Routes>
auto matching(const Routes& routes, std::string_view method, std::string_view path) {
  if (method == "HEAD") method = "GET";
  auto it = std::find_if(routes.begin(), routes.end(), [&](const auto& route) {
    return route.method == method && route.matches(path);
  });
  return it == routes.end() ? nullptr : &*it;
}

}  // namespace

const std::array<Router::Route, 10>& Router::routes() {
  static constexpr std::array<Route, 10> kRoutes = {{
      {"GET", "/health", true, &Router::health},
      {"GET", "/ready", true, &Router::ready},
      {"GET", "/version", true, &Router::version},
      {"GET", "/metrics", true, &Router::metrics},
      {"GET", "/v1/models", false, &Router::models},
      {"GET", kModelPrefix, false, &Router::model},
      {"POST", "/v1/chat/completions", false, &Router::generate<prepare_chat>},
      {"POST", "/v1/completions", false, &Router::generate<prepare_completion>},
      {"POST", "/tokenize", false, &Router::compute<tokenize_body>},
      {"POST", "/detokenize", false, &Router::compute<detokenize_body>},
  }};
  return kRoutes;
}

void Router::Visit::answer(HttpResponse response) const {
  response.headers.insert(response.headers.end(), headers.begin(), headers.end());
  exchange->respond(std::move(response));
}

void Router::Visit::answer(ApiResult<std::string> body) const {
  if (body.ok()) return answer(HttpResponse{.body = std::move(*body)});
  answer(HttpResponse{.status = body.error().status, .body = error_body(body.error())});
}

void Router::handle(HttpRequest request, std::shared_ptr<Exchange> exchange) const {
  HttpHeaders cors = cors_headers(request, parts_.options.cors_origins);
  Visit visit{std::move(request), std::move(exchange), std::move(cors)};
  if (visit.request.method == "OPTIONS") return options(std::move(visit));

  const Route* route = matching(routes(), visit.request.method, visit.request.path);
  const auto& keys = parts_.options.api_keys;
  bool needs_key = !keys.empty() && !(route && route->open);
  if (needs_key && !has_api_key(visit.request.header("authorization"), keys)) {
    visit.headers.emplace_back("WWW-Authenticate", "Bearer");
    return visit.answer(ApiError{
        .status = 401,
        .message = "An API key is needed, as in 'Authorization: Bearer KEY', and it must be right",
        .code = "invalid_api_key"});
  }
  if (route) return (this->*route->action)(std::move(visit));

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

std::string Router::allowed_methods(std::string_view path) {
  std::string allowed;
  for (const Route& route : routes())
    if (route.matches(path))
      allowed = route.method == "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
  return allowed;
}

void Router::options(Visit visit) const {
  visit.headers = preflight_headers(visit.request, parts_.options.cors_origins);
  if (std::string allowed = allowed_methods(visit.request.path); !allowed.empty())
    visit.headers.emplace_back("Allow", allowed);
  visit.answer(HttpResponse{.status = 204});
}

void Router::health(Visit visit) const {
  if (parts_.engine.healthy()) return visit.answer(std::string(R"({"status":"ok"})"));
  visit.answer(unavailable("The engine has failed", "unhealthy"));
}

void Router::ready(Visit visit) const {
  if (parts_.draining) return visit.answer(unavailable("Shutting down", "shutting_down"));
  health(std::move(visit));
}

void Router::version(Visit visit) const {
  visit.answer(std::string(R"({"version":")") + kVersion + "\"}");
}

void Router::metrics(Visit visit) const {
  visit.answer(
      HttpResponse{.body = parts_.metrics.text(), .content_type = Metrics::content_type()});
}

void Router::models(Visit visit) const { visit.answer(models_body(parts_.model)); }

void Router::model(Visit visit) const {
  std::string_view path = visit.request.path;
  visit.answer(model_body(parts_.model, percent_decode(path.substr(kModelPrefix.size()))));
}

template <ApiResult<std::string> (*make)(std::string_view, const ApiModel&)>
void Router::compute(Visit visit) const {
  parts_.workers.post([this, visit = std::move(visit)] {
    try {
      visit.answer(make(visit.request.body, parts_.model));
    } catch (const std::exception& e) {
      visit.answer(internal_error(e));
    }
  });
}

template <ApiResult<Call> (*prepare)(std::string_view, const ApiModel&)>
void Router::generate(Visit visit) const {
  if (parts_.draining)
    return visit.answer(unavailable("The server is shutting down", "shutting_down"));
  auto job = std::make_shared<GenerationJob>(
      visit.exchange,
      GenerationJob::Context{parts_.engine, parts_.metrics, parts_.options.limits.max_queued_events,
                             visit.headers});
  job->attach();
  parts_.workers.post([this, job, body = std::move(visit.request.body)] {
    if (!job->wanted()) return;
    try {
      ApiResult<Call> call = prepare(body, parts_.model);
      if (call.ok())
        job->start(std::move(*call));
      else
        job->refuse(call.error());
    } catch (const std::exception& e) {
      job->refuse(internal_error(e));
    }
  });
}

}  // namespace matador
