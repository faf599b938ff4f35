#include "server/generation_job.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "core/random_id.h"

namespace matador {
namespace {

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Lines of batches come after all that somebody waits for.
constexpr int64_t kBatchPriority = int64_t{1} << 40;

// The response's headers, the request's id last: the client's own, if it is one that can be sent.
HttpHeaders with_request_id(const Visit& visit) {
  constexpr size_t kMaxId = 128;
  HttpHeaders headers = visit.headers;
  std::string id(visit.request.header("x-request-id"));
  bool usable = !id.empty() && id.size() <= kMaxId &&
                std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7f; });
  headers.emplace_back("X-Request-Id", usable ? std::move(id) : random_id("req_"));
  return headers;
}

}  // namespace

class GenerationJob::Sink final : public EventSink {
 public:
  Sink(std::shared_ptr<GenerationJob> job, size_t request)
      : job_(std::move(job)), request_(request) {}
  void push(Event event) override { job_->push(request_, std::move(event)); }

 private:
  std::shared_ptr<GenerationJob> job_;
  size_t request_;
};

GenerationJob::GenerationJob(const RouteContext& context, Visit visit,
                             std::unique_ptr<Account::Ticket> ticket)
    : context_(context),
      headers_(with_request_id(visit)),
      account_(*visit.account),
      in_batch_(visit.in_batch),
      request_id_(headers_.back().second),
      ticket_(std::move(ticket)),
      exchange_(std::move(visit.exchange)) {}

void GenerationJob::attach() {
  context_.requests.add({account_.tenant().name, request_id_}, weak_from_this());
  exchange_->on_gone([self = shared_from_this()] { self->on_gone(); });
}

void GenerationJob::refuse(const ApiError& error) {
  auto exchange = detach();
  if (!exchange) return;
  leave();
  HttpResponse response = error_response(error);
  response.headers = headers_;
  exchange->respond(std::move(response));
}

void GenerationJob::start(Call call) {
  answer_ = std::move(call.answer);
  n_ = call.requests.front().n;
  max_tokens_ = call.requests.front().params.max_tokens;
  times_.resize(call.requests.size());
  progress_.resize(call.requests.size() * static_cast<size_t>(n_));
  charge(answer_->usage().prompt_tokens);
  std::vector<RequestId> ids;
  std::optional<ApiError> error;
  for (size_t i = 0; i < call.requests.size() && !error; ++i) {
    set_caller(call.requests[i]);
    call.requests[i].sink = std::make_shared<Sink>(shared_from_this(), i);
    Result<RequestId> id = context_.engine.submit(std::move(call.requests[i]));
    if (id.ok())
      ids.push_back(*id);
    else
      error = to_api_error(id.error());
  }
  if (error) {
    for (RequestId id : ids) context_.engine.cancel(id);
    return refuse(*error);
  }
  std::unique_lock lock(mutex_);
  ids_ = ids;
  started_ = true;
  auto exchange = exchange_;
  scheduled_ = true;
  bool unwanted = !exchange || aborted_;  // gone or aborted while it was submitted
  lock.unlock();
  if (unwanted)
    for (RequestId id : ids) context_.engine.cancel(id);
  if (exchange) exchange->post([self = shared_from_this()] { self->pump(); });
}

void GenerationJob::set_caller(Request& request) const {
  const Tenant& tenant = account_.tenant();
  request.tenant = tenant.name;
  request.weight = tenant.weight;
  request.priority += tenant.priority + (in_batch_ ? kBatchPriority : 0);
}

void GenerationJob::abort() {
  std::vector<RequestId> ids;
  {
    std::lock_guard lock(mutex_);
    aborted_ = true;
    ids = ids_;
  }
  for (RequestId id : ids) context_.engine.cancel(id);
}

void GenerationJob::push(size_t request, Event event) {
  std::shared_ptr<Exchange> exchange;
  bool overflow = false;
  {
    std::lock_guard lock(mutex_);
    if (!exchange_) return;
    queue_.push_back({request, std::move(event)});
    overflow = queue_.size() > context_.options.limits.max_queued_events;
    if (!overflow && (scheduled_ || !started_)) return;
    scheduled_ = true;
    exchange = exchange_;
  }
  if (overflow) return exchange->abort();  // which comes back as on_gone
  exchange->post([self = shared_from_this()] { self->pump(); });
}

void GenerationJob::pump() {
  if (writing_) return;  // comes back when written
  std::vector<Arrival> arrivals;
  {
    std::lock_guard lock(mutex_);
    if (!exchange_) return;
    scheduled_ = false;
    arrivals.swap(queue_);
  }
  for (Arrival& arrival : arrivals) {
    measure(arrival);
    answer_->push(arrival.request, std::move(arrival.event));
  }
  for (Answer::Cancel cancel : answer_->take_cancels())
    context_.engine.cancel(ids_[cancel.request], cancel.choice);
  send();
}

void GenerationJob::measure(const Arrival& arrival) {
  const Event& event = arrival.event;
  Metrics::Times& times = times_[arrival.request];
  if (event.kind == Event::Kind::prompt_done) {
    times.queued = event.queued;
    times.scheduled = event.scheduled;
  } else if (event.kind == Event::Kind::token) {
    const size_t first_choice = arrival.request * static_cast<size_t>(n_);
    measure_token(event, times, progress_[first_choice + static_cast<size_t>(event.choice)]);
  }
}

void GenerationJob::measure_token(const Event& event, Metrics::Times& times, Progress& progress) {
  if (num_tokens_++ == 0) {
    first_token_time_ = event.time;
    context_.metrics.on_first_token(seconds(event.time - arrival_time_));
  }
  if (progress.num_tokens++ > 0) {
    context_.metrics.on_next_token(seconds(event.time - progress.last_token));
  }
  if (times.first_token == TimePoint()) times.first_token = event.time;
  progress.last_token = times.last_token = last_token_time_ = event.time;
}

void GenerationJob::send() {
  bool done = answer_->done();
  if (!answer_->stream()) return done ? complete() : void();
  if (!std::exchange(opened_, true)) {
    HttpHeaders headers = headers_;
    headers.emplace_back("Cache-Control", "no-cache");
    headers.emplace_back("X-Accel-Buffering", "no");  // proxies hold small pieces back
    exchange_->open({.content_type = "text/event-stream; charset=utf-8", .headers = headers});
  }
  std::string data;
  for (const std::string& chunk : answer_->take_chunks()) data += "data: " + chunk + "\n\n";
  if (!data.empty()) {
    writing_ = true;
    exchange_->write(std::move(data), [self = shared_from_this()] {
      self->writing_ = false;
      self->pump();
    });
  }
  if (done) complete();
}

void GenerationJob::charge(int64_t tokens) {
  std::lock_guard lock(mutex_);
  if (ticket_) ticket_->charge(tokens);
}

// It does not run any more. The context and the account may end from here on, however long a sink
// keeps this.
void GenerationJob::leave() {
  context_.requests.remove({account_.tenant().name, request_id_}, this);
  std::lock_guard lock(mutex_);
  ticket_.reset();
}

// What was used is charged and written down, however the request ended.
void GenerationJob::settle() {
  const Usage& usage = answer_->usage();
  charge(usage.completion_tokens);
  if (!context_.store) return;
  UsageRecord used{.owner = account_.tenant().name,
                   .model = context_.model.name(),
                   .num_requests = 1,
                   .input_tokens = usage.prompt_tokens,
                   .cached_tokens = usage.cached_tokens,
                   .output_tokens = usage.completion_tokens};
  context_.workers.post([store = context_.store, used = std::move(used)] {
    try {
      store->usage.add(used);
    } catch (const std::exception& fault) {
      std::fprintf(stderr, "matador: usage: %s\n", fault.what());
    }
  });
}

void GenerationJob::complete() {
  settle();
  auto now = Clock::now();
  const Usage& usage = answer_->usage();
  const auto longest = std::ranges::max_element(progress_, {}, &Progress::num_tokens);
  context_.metrics.on_request({.prompt_tokens = usage.prompt_tokens,
                               .cached_tokens = usage.cached_tokens,
                               .generation_tokens = usage.completion_tokens,
                               .longest_choice = longest->num_tokens,
                               .n = n_,
                               .max_tokens = max_tokens_,
                               .seconds = seconds(now - arrival_time_),
                               .decode_seconds = seconds(last_token_time_ - first_token_time_)});
  for (const Metrics::Times& times : times_) {
    if (times.first_token != TimePoint()) context_.metrics.on_times(times);
  }
  for (const std::string& reason : answer_->finish_reasons()) context_.metrics.on_choice(reason);
  auto exchange = detach();
  leave();
  if (answer_->stream()) return exchange->finish();
  ApiResult<std::string> body = answer_->body();
  HttpResponse response =
      body.ok() ? HttpResponse{.body = std::move(*body)} : error_response(body.error());
  response.headers = headers_;
  exchange->respond(std::move(response));
}

void GenerationJob::on_gone() {
  if (!detach()) return;
  context_.metrics.on_choice("abort");
  std::vector<RequestId> ids;
  bool started = false;
  {
    std::lock_guard lock(mutex_);
    ids = ids_;  // none yet: start() will see that nobody listens
    started = started_;
  }
  if (started) settle();
  leave();
  for (RequestId id : ids) context_.engine.cancel(id);
}

bool GenerationJob::wanted() {
  std::lock_guard lock(mutex_);
  return exchange_ != nullptr;
}

std::shared_ptr<Exchange> GenerationJob::detach() {
  std::lock_guard lock(mutex_);
  queue_.clear();
  return std::exchange(exchange_, nullptr);
}

}  // namespace matador
