#include "server/batch_runner.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <deque>
#include <exception>
#include <utility>

#include "api/batch_lines.h"
#include "core/file.h"

namespace matador {
namespace {

constexpr auto kIdle = std::chrono::seconds(1);  // between looks for what has expired

std::string_view text_of(const MappedFile& file) {
  auto bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

BatchRunner::BatchRunner(Store& store, size_t width, const std::atomic<bool>& draining)
    : store_(store), width_(width), draining_(draining) {}

BatchRunner::~BatchRunner() {
  ending_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
}

void BatchRunner::start(Perform perform) {
  perform_ = std::move(perform);
  thread_ = std::thread([this] { run(); });
}

void BatchRunner::wake() {
  {
    std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

void BatchRunner::run() {
  while (!ending_) {
    bool idle = true;
    try {
      store_.files.remove_expired();
      auto batch = draining_ ? std::nullopt : store_.batches.next();
      idle = !batch;
      if (batch) advance(*batch);
    } catch (const std::exception& fault) {  // of the disk: what is recorded stays, and is retried
      std::fprintf(stderr, "matador: batches: %s\n", fault.what());
      idle = true;
    }
    if (!idle) continue;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kIdle, [this] { return woken_; });
    woken_ = false;
  }
}

void BatchRunner::advance(const BatchJob& batch) {
  switch (batch.status) {
    case BatchStatus::validating: return validate(batch);
    case BatchStatus::in_progress: return answer_lines(batch);
    case BatchStatus::finalizing: return finish(batch, BatchStatus::completed);
    case BatchStatus::cancelling: return finish(batch, BatchStatus::cancelled);
    case BatchStatus::failed:
    case BatchStatus::completed:
    case BatchStatus::expired:
    case BatchStatus::cancelled: break;
  }
}

void BatchRunner::validate(const BatchJob& batch) {
  auto file = MappedFile::open(store_.files.path_of(batch.input_file_id));
  ScannedBatch scanned;
  if (file.ok())
    scanned = scan_batch(text_of(**file), batch.endpoint);
  else
    scanned.faults.push_back({"input_file_unreadable", file.error().message});
  if (scanned.faults.empty()) return store_.batches.begin(batch.id, scanned.lines);
  store_.batches.fail(batch.id, batch_faults_text(scanned.faults));
}

void BatchRunner::answer_lines(const BatchJob& batch) {
  auto file = MappedFile::open(store_.files.path_of(batch.input_file_id));
  if (!file.ok())
    return store_.batches.fail(
        batch.id, batch_faults_text({{"input_file_unreadable", file.error().message}}));
  auto perform = [this, &batch](HttpRequest request, std::shared_ptr<Exchange> exchange) {
    perform_(std::move(request), std::move(exchange), batch.owner);
  };
  BatchSession session(perform, batch.endpoint, width_);
  if (session.run(work_on(batch, text_of(**file)))) {
    if (store_.batches.finalize(batch.id)) finish(batch, BatchStatus::completed);
    return;
  }
  if (std::time(nullptr) >= batch.expires_at) expire(batch);
}

BatchSession::Work BatchRunner::work_on(const BatchJob& batch, std::string_view text) {
  constexpr int64_t kReadAhead = 256;
  struct Reader {
    std::deque<BatchLine> ready;
    int64_t last = 0;
  };
  auto next = [this, &batch, text, reader = std::make_shared<Reader>()] {
    std::optional<BatchSession::Line> line;
    if (reader->ready.empty()) {
      for (BatchLine& found : store_.batches.unanswered(batch.id, reader->last, kReadAhead))
        reader->ready.push_back(std::move(found));
      if (reader->ready.empty()) return line;
      reader->last = reader->ready.back().number;
    }
    line = {std::move(reader->ready.front()), ""};
    reader->ready.pop_front();
    auto begin = std::min(static_cast<size_t>(line->line.offset), text.size());
    auto body = batch_line_body(text.substr(begin, static_cast<size_t>(line->line.size)));
    if (body.ok()) line->body = std::move(*body);  // else: the route's answer is the error
    return line;
  };
  return {
      .next = next,
      .record = [this, &batch](const auto& answers) { store_.batches.record(batch.id, answers); },
      .stop = [this, &batch] { return should_stop(batch); }};
}

bool BatchRunner::should_stop(const BatchJob& batch) const {
  return ending_ || draining_ || std::time(nullptr) >= batch.expires_at ||
         store_.batches.status(batch.id) != BatchStatus::in_progress;
}

void BatchRunner::expire(const BatchJob& batch) {
  constexpr int64_t kAtATime = 1000;
  for (int64_t last = 0;;) {
    std::vector<BatchAnswer> answers;
    for (const BatchLine& line : store_.batches.unanswered(batch.id, last, kAtATime)) {
      answers.push_back(batch_unanswered(
          line, "batch_expired", "The batch's completion window ended before this request ran"));
      last = line.number;
    }
    if (answers.empty()) break;
    store_.batches.record(batch.id, answers);
  }
  finish(batch, BatchStatus::expired);
}

void BatchRunner::finish(const BatchJob& batch, BatchStatus end) {
  store_.batches.finish(
      batch.id, end, {.output = write_answers(batch, true), .errors = write_answers(batch, false)});
}

std::optional<StoredFile> BatchRunner::write_answers(const BatchJob& batch, bool ok) {
  auto content = store_.files.create();
  store_.batches.for_each_answer(batch.id, ok,
                                 [&](std::string_view text) { content->write(text); });
  if (content->bytes() == 0) return std::nullopt;
  content->close();
  return StoredFile{.id = content->id(),
                    .owner = batch.owner,
                    .purpose = "batch_output",
                    .filename = batch.id + (ok ? "_output.jsonl" : "_error.jsonl"),
                    .bytes = content->bytes(),
                    .created_at = std::time(nullptr)};
}

}  // namespace matador
