#include "server/generation_job.h"

#include <algorithm>
#include <utility>

#include "server/route.h"

namespace matador {
namespace {

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
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

GenerationJob::GenerationJob(std::shared_ptr<Exchange> exchange, Context context)
    : context_(std::move(context)), exchange_(std::move(exchange)) {}

void GenerationJob::attach() {
  exchange_->on_gone([self = shared_from_this()] { self->on_gone(); });
}

void GenerationJob::refuse(const ApiError& error) {
  auto exchange = detach();
  if (!exchange) return;
  HttpResponse response = error_response(error);
  response.headers = context_.headers;
  exchange->respond(std::move(response));
}

void GenerationJob::start(Call call) {
  answer_ = std::move(call.answer);
  n_ = call.requests.front().n;
  max_tokens_ = call.requests.front().params.max_tokens;
  times_.resize(call.requests.size());
  progress_.resize(call.requests.size() * static_cast<size_t>(n_));
  std::vector<RequestId> ids;
  std::optional<ApiError> error;
  for (size_t i = 0; i < call.requests.size() && !error; ++i) {
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
  lock.unlock();
  if (exchange) return exchange->post([self = shared_from_this()] { self->pump(); });
  for (RequestId id : ids) context_.engine.cancel(id);  // gone while it was submitted
}

void GenerationJob::push(size_t request, Event event) {
  std::shared_ptr<Exchange> exchange;
  bool overflow = false;
  {
    std::lock_guard lock(mutex_);
    if (!exchange_) return;
    queue_.push_back({request, std::move(event)});
    overflow = queue_.size() > context_.max_queued_events;
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
    HttpHeaders headers = context_.headers;
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

void GenerationJob::complete() {
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
  if (answer_->stream()) return exchange->finish();
  ApiResult<std::string> body = answer_->body();
  HttpResponse response =
      body.ok() ? HttpResponse{.body = std::move(*body)} : error_response(body.error());
  response.headers = context_.headers;
  exchange->respond(std::move(response));
}

void GenerationJob::on_gone() {
  if (!detach()) return;
  context_.metrics.on_choice("abort");
  std::vector<RequestId> ids;
  {
    std::lock_guard lock(mutex_);
    ids = ids_;  // none yet: start() will see that nobody listens
  }
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
