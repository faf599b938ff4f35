// matador bench: random prompts of fixed length through the engine; how fast it reads and writes.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "command.h"
#include "core/json.h"
#include "event_queue.h"
#include "options.h"

namespace matador {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct BenchOptions {
  ModelOptions model;
  EngineFlags engine;
  int32_t num_prompts = 8;
  int32_t input_len = 512;
  int32_t output_len = 128;
  int32_t concurrency = 1;
  bool json = false;
};

// What one request's client sees: when it asked, and when each token came.
class Timeline : public EventSink {
 public:
  explicit Timeline(std::shared_ptr<EventQueue> finished) : finished_(std::move(finished)) {}
  void push(Event event) override {
    if (event.kind == Event::Kind::token) tokens_.push_back(Clock::now());
    if (event.kind == Event::Kind::finished) finished_->push(std::move(event));
  }
  double first_token() const { return Seconds(tokens_.front() - asked_).count(); }
  double decoding() const { return Seconds(tokens_.back() - tokens_.front()).count(); }
  size_t num_tokens() const { return tokens_.size(); }
  void append_gaps(std::vector<double>& gaps) const {
    for (size_t i = 1; i < tokens_.size(); ++i) {
      gaps.push_back(Seconds(tokens_[i] - tokens_[i - 1]).count());
    }
  }

 private:
  std::shared_ptr<EventQueue> finished_;
  Clock::time_point asked_ = Clock::now();
  std::vector<Clock::time_point> tokens_;
};

struct Measured {
  double load_seconds = 0;
  double wall_seconds = 0;
  std::vector<std::shared_ptr<Timeline>> requests;
};

std::vector<int32_t> random_prompt(std::mt19937_64& random, int32_t vocab_size, int32_t length) {
  std::uniform_int_distribution<int32_t> token(0, vocab_size - 1);
  std::vector<int32_t> prompt(length);
  for (int32_t& id : prompt) id = token(random);
  return prompt;
}

// Keeps `concurrency` requests running until `count` have finished.
Status run_requests(Engine& engine, const BenchOptions& options, int32_t count,
                    std::mt19937_64& random, std::vector<std::shared_ptr<Timeline>>& requests) {
  auto finished = std::make_shared<EventQueue>();
  for (int32_t sent = 0, done = 0; done < count;) {
    if (sent < count && sent - done < options.concurrency) {
      auto timeline = std::make_shared<Timeline>(finished);
      Request request;
      request.prompt = random_prompt(random, engine.model_info().vocab_size, options.input_len);
      request.params.max_tokens = options.output_len;
      request.params.ignore_eos = true;
      request.params.temperature = 0;
      request.sink = timeline;
      if (auto id = engine.submit(std::move(request)); !id) return id.error();
      requests.push_back(std::move(timeline));
      ++sent;
      continue;
    }
    const Event event = finished->pop();
    if (event.reason == FinishReason::error) return Error{ErrorCode::internal, event.error};
    ++done;
  }
  return {};
}

Result<Measured> measure(const BenchOptions& options) {
  Measured measured;
  const Clock::time_point loading = Clock::now();
  auto served = load(options.model, options.engine);
  if (!served) return served.error();
  measured.load_seconds = Seconds(Clock::now() - loading).count();

  std::mt19937_64 random(options.engine.seed);
  std::vector<std::shared_ptr<Timeline>> warm_up;
  if (Status status = run_requests(*(*served)->engine, options, 1, random, warm_up); !status) {
    return status.error();
  }
  const Clock::time_point start = Clock::now();
  Status status =
      run_requests(*(*served)->engine, options, options.num_prompts, random, measured.requests);
  if (!status) return status.error();
  measured.wall_seconds = Seconds(Clock::now() - start).count();
  return measured;
}

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(p / 100 * static_cast<double>(values.size())));
  return values[std::max<size_t>(rank, 1) - 1];
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts KiB
}

nlohmann::ordered_json summarise(const BenchOptions& options, const Measured& measured) {
  std::vector<double> first_tokens, gaps;
  double decoding = 0;
  for (const auto& request : measured.requests) {
    first_tokens.push_back(request->first_token());
    request->append_gaps(gaps);
    decoding += request->decoding();
  }
  const double prompts = options.num_prompts;
  const double waiting = std::accumulate(first_tokens.begin(), first_tokens.end(), 0.0);
  const double output = prompts * options.output_len;
  return {{"model", options.model.model},
          {"num_prompts", options.num_prompts},
          {"input_len", options.input_len},
          {"output_len", options.output_len},
          {"concurrency", options.concurrency},
          {"prefill_tokens_per_second", prompts * options.input_len / waiting},
          {"decode_tokens_per_second", decoding > 0 ? (output - prompts) / decoding : 0},
          {"output_tokens_per_second", output / measured.wall_seconds},
          {"ttft_p50_ms", 1e3 * percentile(first_tokens, 50)},
          {"ttft_p99_ms", 1e3 * percentile(first_tokens, 99)},
          {"itl_p50_ms", 1e3 * percentile(gaps, 50)},
          {"itl_p99_ms", 1e3 * percentile(gaps, 99)},
          {"load_seconds", measured.load_seconds},
          {"peak_memory_mib", peak_memory_mib()}};
}

void print_table(const nlohmann::ordered_json& summary) {
  for (const auto& [name, value] : summary.items()) {
    if (value.is_number_float()) {
      std::printf("%-28s %12.2f\n", name.c_str(), value.get<double>());
    } else {
      std::printf("%-28s %12s\n", name.c_str(),
                  value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
    }
  }
}

Status bench(const BenchOptions& options) {
  auto measured = measure(options);
  if (!measured) return measured.error();
  const nlohmann::ordered_json summary = summarise(options, *measured);
  if (options.json) {
    std::puts(summary.dump(2).c_str());
  } else {
    print_table(summary);
  }
  return {};
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  auto [command, options] =
      add_command(app, chosen, "bench", "Measure speed with random prompts", bench);
  add_model_options(*command, options->model);
  const auto add_count = [&, command = command](const char* name, int32_t& count,
                                                const char* description) {
    command->add_option(name, count, description)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
  };
  add_count("--num-prompts", options->num_prompts, "Requests in all, after one to warm up");
  add_count("--input-len", options->input_len, "Tokens a prompt");
  add_count("--output-len", options->output_len, "Tokens an answer (end-of-text is ignored)");
  add_count("--concurrency", options->concurrency, "Requests at a time");
  command->add_flag("--json", options->json, "As JSON");
  add_engine_options(*command, options->engine);
  command->footer(
      "prefill: prompt tokens by time to the first token; decode: further tokens by the time they\n"
      "took, both as one request sees them. output: tokens of all requests by the wall clock.\n"
      "ttft: time to first token. itl: inter-token latency.");
}

}  // namespace matador
