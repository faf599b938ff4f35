#include "bench_suite.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "event_queue.h"

namespace matador {

namespace {

constexpr SuiteRow kPeers[] = {
    {"decode-1", 1, 128, 256, 3},
    {"decode-8", 8, 128, 256, 3},
    {"decode-64", 64, 128, 256, 2},
    {"decode-256", 256, 128, 256, 2},
    {"prefill-1x8192", 1, 8192, 1, 3},
    {"prefill-8x1024", 8, 1024, 1, 3},
    {"offline-1024x512/128", 1024, 512, 128, 1},
    {"long-1x16000/256", 1, 16000, 256, 2},
    {"long-32x8192/256", 32, 8192, 256, 2},
};

// Passes on how a request ended, and nothing before.
class Ends : public EventSink {
 public:
  void push(Event event) override {
    if (event.kind == Event::Kind::finished) queue_.push(std::move(event));
  }
  Event wait() { return queue_.pop(); }

 private:
  EventQueue queue_;
};

std::vector<Request> random_requests(std::mt19937_64& random, const SuiteRow& row,
                                     int32_t vocab_size) {
  std::uniform_int_distribution<int32_t> token(std::min(1000, vocab_size / 2),
                                               std::min(100000, vocab_size - 1));
  std::vector<Request> requests(static_cast<size_t>(row.requests));
  for (Request& request : requests) {
    request.prompt.resize(static_cast<size_t>(row.input));
    for (int32_t& id : request.prompt) id = token(random);
    request.params.temperature = 0;
    request.params.max_tokens = row.output;
    request.params.ignore_eos = true;
  }
  return requests;
}

Result<double> run_once(Engine& engine, std::vector<Request> requests) {
  const auto ends = std::make_shared<Ends>();
  const size_t count = requests.size();
  const auto begin = std::chrono::steady_clock::now();
  for (Request& request : requests) {
    request.sink = ends;
    if (auto id = engine.submit(std::move(request)); !id) return id.error();
  }
  for (size_t i = 0; i < count; ++i) {
    const Event end = ends->wait();
    if (end.reason == FinishReason::error) return Error{ErrorCode::internal, end.error};
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::span<const SuiteRow> peers_suite() { return kPeers; }

Result<nlohmann::ordered_json> run_row(Engine& engine, const SuiteRow& row) {
  std::mt19937_64 random(0);
  std::vector<double> seconds;
  for (int i = 0; i < row.repetitions; ++i) {
    auto once = run_once(engine, random_requests(random, row, engine.model_info().vocab_size));
    if (!once) return once.error();
    seconds.push_back(*once);
  }
  const double best = *std::ranges::min_element(seconds);
  const auto rate = [&](int32_t tokens) { return row.requests * double{1} * tokens / best; };
  return nlohmann::ordered_json{{"label", row.label},
                                {"n", row.requests},
                                {"inp", row.input},
                                {"outp", row.output},
                                {"best_s", best},
                                {"all_s", seconds},
                                {"out_tok_s", rate(row.output)},
                                {"in_tok_s", rate(row.input)}};
}

}  // namespace matador
