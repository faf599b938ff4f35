#include "server/batch_session.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "api/batch_lines.h"
#include "api/error.h"

namespace matador {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);  // between looks at Work::stop

bool is_busy(int status) { return status == 429 || status == 503; }

}  // namespace

// What others hand to the thread of run(), which plays the connection's.
class BatchSession::Queue {
 public:
  void post(std::function<void()> work) {
    {
      std::lock_guard lock(mutex_);
      if (closed_) return;
      queue_.push_back(std::move(work));
    }
    ready_.notify_one();
  }
  // What is left is to be run; nothing more is taken.
  std::vector<std::function<void()>> close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    return std::exchange(queue_, {});
  }
  std::vector<std::function<void()>> wait() {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, kPause, [this] { return !queue_.empty(); });
    return std::exchange(queue_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<std::function<void()>> queue_;
  bool closed_ = false;
};

// Lives on the queue's thread, like a connection on its own.
class BatchSession::LineExchange final : public Exchange,
                                         public std::enable_shared_from_this<LineExchange> {
 public:
  using Answered = std::function<void(const std::shared_ptr<LineExchange>&, HttpResponse)>;

  LineExchange(std::shared_ptr<Queue> queue, Line the_line, Answered answered)
      : line(std::move(the_line)), queue_(std::move(queue)), answered_(std::move(answered)) {}

  void respond(HttpResponse response) override {
    queue_->post([self = shared_from_this(), response = std::move(response)]() mutable {
      self->end(std::move(response));
    });
  }
  void open(HttpResponse) override {
    respond(
        {.status = 400, .body = error_body(field_error("stream", "must not be true in a batch"))});
  }
  void write(std::string, std::function<void()>) override {}
  void finish() override {}
  void abort() override {
    respond({.status = 500,
             .body = error_body({.status = 500, .message = "aborted", .type = "server_error"})});
  }
  void on_gone(std::function<void()> callback) override {
    queue_->post([self = shared_from_this(), callback = std::move(callback)]() mutable {
      if (self->given_up_)
        callback();
      else if (self->answered_)
        self->gone_ = std::move(callback);
    });
  }
  void post(std::function<void()> work) override { queue_->post(std::move(work)); }

  void give_up() {
    given_up_ = true;
    answered_ = nullptr;
    if (auto callback = std::exchange(gone_, nullptr)) callback();
  }

  Line line;

 private:
  void end(HttpResponse response) {
    gone_ = nullptr;
    if (auto answered = std::exchange(answered_, nullptr))
      answered(shared_from_this(), std::move(response));
  }

  std::shared_ptr<Queue> queue_;
  Answered answered_;
  std::function<void()> gone_;
  bool given_up_ = false;
};

BatchSession::BatchSession(Perform perform, std::string endpoint, size_t width)
    : perform_(std::move(perform)),
      endpoint_(std::move(endpoint)),
      width_(width),
      queue_(std::make_shared<Queue>()) {}

BatchSession::~BatchSession() {
  give_up();
  for (auto& task : queue_->close()) task();  // jobs that are to hear that nobody waits for them
}

bool BatchSession::run(const Work& work) {
  auto resume = std::chrono::steady_clock::now();
  for (;;) {
    if (work.stop()) return false;
    auto now = std::chrono::steady_clock::now();
    if (now >= resume)
      while (running_.size() < width_ && launch_next(work)) {
      }
    if (running_.empty() && again_.empty()) return true;
    size_t busy = again_.size();
    for (auto& task : queue_->wait()) task();
    if (again_.size() > busy) resume = now + kPause;
    if (!answers_.empty()) work.record(std::exchange(answers_, {}));
  }
}

bool BatchSession::launch_next(const Work& work) {
  if (!again_.empty()) {
    Line line = std::move(again_.back());
    again_.pop_back();
    launch(std::move(line));
    return true;
  }
  std::optional<Line> line = work.next();
  if (!line) return false;
  launch(std::move(*line));
  return true;
}

void BatchSession::launch(Line line) {
  HttpRequest request;
  request.method = "POST";
  request.path = endpoint_;
  request.body = line.body;
  auto answered = [this](const std::shared_ptr<LineExchange>& exchange,
                         const HttpResponse& response) { on_answer(exchange, response); };
  running_.push_back(std::make_shared<LineExchange>(queue_, std::move(line), std::move(answered)));
  perform_(std::move(request), running_.back());
}

void BatchSession::on_answer(const std::shared_ptr<LineExchange>& exchange,
                             const HttpResponse& response) {
  std::erase(running_, exchange);
  if (is_busy(response.status))
    again_.push_back(std::move(exchange->line));
  else
    answers_.push_back(batch_answer(exchange->line.line, response.status, response.body));
}

void BatchSession::give_up() {
  for (const auto& exchange : std::exchange(running_, {})) exchange->give_up();
  again_.clear();
}

}  // namespace matador
