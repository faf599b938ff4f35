// BatchSession: answers many requests that nobody waits for at a connection, several at a time,
// by the routes that serve connections.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/http.h"
#include "store/batch_store.h"

namespace matador {

class BatchSession {
 public:
  struct Line {
    BatchLine line;
    std::string body;  // JSON
  };
  // Called on the thread of run().
  struct Work {
    std::function<std::optional<Line>()> next;  // nothing: there are no more
    std::function<void(const std::vector<BatchAnswer>&)> record;
    std::function<bool()> stop;  // asked several times a second
  };
  using Perform = std::function<void(HttpRequest, std::shared_ptr<Exchange>)>;

  // `endpoint` is the path that all lines call; `width` of them run at a time.
  BatchSession(Perform perform, std::string endpoint, size_t width);
  ~BatchSession();
  BatchSession(const BatchSession&) = delete;
  BatchSession& operator=(const BatchSession&) = delete;

  // True: every line is answered. False: it was told to stop; what still runs is cancelled when
  // the session ends. A line that the server is too busy for is tried again. Once.
  bool run(const Work& work);

 private:
  class Queue;
  class LineExchange;

  bool launch_next(const Work& work);
  void launch(Line line);
  void on_answer(const std::shared_ptr<LineExchange>& exchange, const HttpResponse& response);
  void give_up();

  const Perform perform_;
  const std::string endpoint_;
  const size_t width_;
  std::shared_ptr<Queue> queue_;
  std::vector<std::shared_ptr<LineExchange>> running_;
  std::vector<Line> again_;  // not before the pause is over
  std::vector<BatchAnswer> answers_;
};

}  // namespace matador
