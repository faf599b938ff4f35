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
  explicit Router(RouteContext context) : context_(context) {}

  // Answers now or later, from another thread.
  void handle(HttpRequest request, std::shared_ptr<Exchange> exchange) const;

 private:
  void options(Visit visit) const;
  void refuse(Visit visit) const;
  bool may_call(const Visit& visit, const Route* route) const;

  const RouteContext context_;
};

}  // namespace matador
