// Router: finds a request's route, and does what holds for all of them: keys, CORS, HEAD and
// OPTIONS, unknown paths and methods.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/route.h"

namespace matador {

class Router {
 public:
  // Both outlive it.
  Router(RouteContext context, const Accounts& accounts) : context_(context), accounts_(accounts) {}

  // Answers now or later, from another thread.
  void handle(HttpRequest request, std::shared_ptr<Exchange> exchange) const;
  // A line of a batch of this owner: a POST to a route that batches may call.
  void handle_line(HttpRequest request, std::shared_ptr<Exchange> exchange,
                   const std::string& owner) const;
  // Who takes the body of a request whose headers have come; null: it is kept in memory.
  std::shared_ptr<BodySink> body_sink(const HttpRequest& request) const;

 private:
  void options(Visit visit) const;
  void refuse(Visit visit) const;
  Account* account_of(const HttpRequest& request, const Route* route) const;

  const RouteContext context_;
  const Accounts& accounts_;
};

}  // namespace matador
