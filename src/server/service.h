// Service: the API of one model, without sockets. A Server puts it behind HTTP; batches call it
// from within.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "engine/served_model.h"
#include "server/http.h"
#include "server/server.h"

namespace matador {

// All of it may be called from any thread.
class Service {
 public:
  // `model` and `options.store` outlive it. Fails where an option makes no sense.
  static Result<std::unique_ptr<Service>> create(ServedModel& model, ServerOptions options);
  // After the last request's end.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  const ServerOptions& options() const;
  // Answers now or later, from another thread.
  void handle(HttpRequest request, std::shared_ptr<Exchange> exchange) const;
  // A line of a batch; see Router.
  void handle_line(HttpRequest request, std::shared_ptr<Exchange> exchange,
                   const std::string& owner) const;
  std::shared_ptr<BodySink> body_sink(const HttpRequest& request) const;
  // From here on, routes that generate answer 503.
  void drain();

 private:
  struct Impl;
  explicit Service(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace matador
