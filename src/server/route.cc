#include "server/route.h"

#include <exception>
#include <utility>

#include "api/query.h"

namespace matador {
std::optional<std::string> Route::match(std::string_view path) const {
  size_t open = pattern.find('{');
  if (open == pattern.npos) return path == pattern ? std::optional<std::string>("") : std::nullopt;
  size_t close = pattern.find('}');
  std::string_view before = pattern.substr(0, open), after = pattern.substr(close + 1);
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) ||
      !path.ends_with(after))
    return std::nullopt;
  std::string_view value = path.substr(before.size(), path.size() - before.size() - after.size());
  bool one_segment = pattern.substr(open, close + 1 - open) == "{id}";
  if (one_segment && value.find('/') != value.npos) return std::nullopt;
  return percent_decode(value);
}

void Visit::answer(HttpResponse response) const {
  response.headers.insert(response.headers.end(), headers.begin(), headers.end());
  exchange->respond(std::move(response));
}

void Visit::answer(ApiResult<std::string> body) const {
  answer(body.ok() ? HttpResponse{.body = std::move(*body)} : error_response(body.error()));
}

void answer_later(const RouteContext& context, Visit visit, RouteWork work) {
  context.workers.post([&context, work, visit = std::move(visit)] {
    try {
      visit.answer(work(context, visit));
    } catch (const std::exception& fault) {
      visit.answer(internal_error(fault));
    }
  });
}

ApiError unavailable(std::string message, std::string code) {
  return {.status = 503,
          .message = std::move(message),
          .code = std::move(code),
          .type = "service_unavailable_error"};
}

ApiError internal_error(const std::exception& fault) {
  return {.status = 500, .message = fault.what(), .code = "internal_error", .type = "server_error"};
}

HttpResponse error_response(const ApiError& error) {
  return {.status = error.status, .body = error_body(error)};
}

}  // namespace matador
