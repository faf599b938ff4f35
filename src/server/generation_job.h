// GenerationJob: one generating request on its way from the handler to the last byte. Takes the
// engine's events and makes them text on the connection's thread.
//
// Lifetime: the exchange, the worker and the engine's sinks hold it. When the client has gone or
// the answer is complete it lets go of the exchange; a late event then finds nobody.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "api/call.h"
#include "server/route.h"

namespace matador {

class GenerationJob : public std::enable_shared_from_this<GenerationJob> {
 public:
  // `context` outlives it. `visit`: all but the body, which the call was made of.
  GenerationJob(const RouteContext& context, Visit visit, std::unique_ptr<Account::Ticket> ticket);

  // Watches for the client's leaving, and for an abort. Before start().
  void attach();
  // Gives the call to the engine, or answers that it will not have it. On a worker's thread.
  void start(Call call);
  // Answers that there is no call.
  void refuse(const ApiError& error);
  // False once the client has gone.
  bool wanted();
  // Ends it as the engine ends what is aborted: the client is told. Any thread.
  void abort();

 private:
  using Clock = std::chrono::steady_clock;
  class Sink;
  struct Arrival {
    size_t request;
    Event event;
  };
  struct Progress {  // of a choice
    TimePoint last_token = {};
    int64_t num_tokens = 0;
  };

  void push(size_t request, Event event);  // on the engine's thread
  void pump();                             // from here on, on the connection's
  void measure(const Arrival& arrival);
  void measure_token(const Event& event, Metrics::Times& times, Progress& progress);
  void send();
  void complete();
  void on_gone();
  std::shared_ptr<Exchange> detach();

  void set_caller(Request& request) const;
  void charge(int64_t tokens);
  void settle();
  void leave();

  const RouteContext& context_;
  const HttpHeaders headers_;  // of every response
  Account& account_;
  const bool in_batch_;
  const std::string request_id_;
  const Clock::time_point arrival_time_ = Clock::now();

  std::mutex mutex_;                         // guards the next seven
  std::unique_ptr<Account::Ticket> ticket_;  // while it counts as running
  std::shared_ptr<Exchange> exchange_;       // null: nobody listens
  std::vector<RequestId> ids_;               // of the engine
  std::vector<Arrival> queue_;
  bool started_ = false;    // all requests are submitted, events may be read
  bool scheduled_ = false;  // a pump is on its way
  bool aborted_ = false;    // before it started

  // The connection's thread only, once started.
  std::unique_ptr<Answer> answer_;
  bool writing_ = false;
  bool opened_ = false;
  int32_t n_ = 1, max_tokens_ = 0;
  int64_t num_tokens_ = 0;
  TimePoint first_token_time_, last_token_time_;
  std::vector<Metrics::Times> times_;  // of the requests
  std::vector<Progress> progress_;     // of the choices of all requests
};

}  // namespace matador
