// matador bench: random prompts of fixed length through the engine; how fast it reads and writes.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

#include "bench_suite.h"
#include "command.h"
#include "core/json.h"
#include "core/version.h"
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
  std::optional<std::string> json;  // a file; empty: stdout
  bool random_weights = false;
  bool profile = false;
  std::string suite;
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
  EngineStats before, after;
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

Result<std::unique_ptr<ServedModel>> load(const BenchOptions& options) {
  if (!options.random_weights) return load(options.model, options.engine);
  return load_random_model(options.model.model, serve_options(options.model, options.engine));
}

// What the engine tells once it has told of this many tokens; that may be after their clients know.
EngineStats stats_after(const Engine& engine, int64_t tokens) {
  EngineStats stats = engine.stats();
  for (; static_cast<int64_t>(stats.generation_tokens) < tokens; stats = engine.stats()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return stats;
}

Result<Measured> measure(const BenchOptions& options) {
  Measured measured;
  const Clock::time_point loading = Clock::now();
  auto served = load(options);
  if (!served) return served.error();
  measured.load_seconds = Seconds(Clock::now() - loading).count();

  std::mt19937_64 random(options.engine.seed);
  std::vector<std::shared_ptr<Timeline>> warm_up;
  if (Status status = run_requests(*(*served)->engine, options, 1, random, warm_up); !status) {
    return status.error();
  }
  measured.before = stats_after(*(*served)->engine, options.output_len);
  const Clock::time_point start = Clock::now();
  Status status =
      run_requests(*(*served)->engine, options, options.num_prompts, random, measured.requests);
  if (!status) return status.error();
  measured.wall_seconds = Seconds(Clock::now() - start).count();
  measured.after =
      stats_after(*(*served)->engine, int64_t{options.num_prompts + 1} * options.output_len);
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

// Milliseconds a step: what the device and the host spent on it, and how long the device stood
// still between steps.
void add_profile(nlohmann::ordered_json& summary, const Measured& measured) {
  const double steps = static_cast<double>(measured.after.steps - measured.before.steps);
  const double device = measured.after.device_seconds - measured.before.device_seconds;
  const double host = measured.after.host_seconds - measured.before.host_seconds;
  summary["steps"] = steps;
  summary["step_ms"] = 1e3 * measured.wall_seconds / steps;
  summary["step_device_ms"] = 1e3 * device / steps;
  summary["step_host_ms"] = 1e3 * host / steps;
  summary["step_gap_ms"] = 1e3 * std::max(0.0, measured.wall_seconds - device) / steps;
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

Status write_json(const nlohmann::ordered_json& report, const std::string& path) {
  if (path.empty()) {
    std::puts(report.dump(2).c_str());
    return {};
  }
  std::ofstream file(path);
  file << report.dump(1) << '\n';
  file.close();
  if (file) return {};
  return Error{ErrorCode::io, "--json: cannot write " + path};
}

Status bench_suite(const BenchOptions& options) {
  const Clock::time_point loading = Clock::now();
  auto served = load(options);
  if (!served) return served.error();
  nlohmann::ordered_json report{{"matador", kVersion},
                                {"model", options.model.model},
                                {"start_s", Seconds(Clock::now() - loading).count()},
                                {"rows", nlohmann::json::array()}};
  for (const SuiteRow& row : peers_suite()) {
    auto measured = run_row(*(*served)->engine, row);
    if (!measured) return measured.error();
    std::fprintf(stderr, "%s\n", measured->dump().c_str());
    report["rows"].push_back(std::move(*measured));
    // A long suite leaves what it has if it is ended early.
    if (options.json && !options.json->empty()) {
      if (Status status = write_json(report, *options.json); !status) return status;
    }
  }
  return options.json && !options.json->empty() ? Status() : write_json(report, "");
}

Status bench(const BenchOptions& options) {
  if (!options.suite.empty()) return bench_suite(options);
  auto measured = measure(options);
  if (!measured) return measured.error();
  nlohmann::ordered_json summary = summarise(options, *measured);
  if (options.profile) add_profile(summary, *measured);
  if (options.json) return write_json(summary, *options.json);
  print_table(summary);
  return {};
}

// What the suite compares with runs so.
void take_suite_defaults(const CLI::App& command, EngineFlags& engine) {
  const auto unset = [&](const char* name) { return command.count(name) == 0; };
  if (unset("--max-model-len")) engine.max_model_len = 16384;
  if (unset("--max-num-batched-tokens")) engine.max_num_batched_tokens = 8192;
  if (unset("--enable-prefix-caching")) engine.prefix_caching = false;
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
  command
      ->add_option_function<std::string>(
          "--json", [options = options](const std::string& file) { options->json = file; },
          "As JSON, to FILE or stdout")
      ->type_name("[FILE]")
      ->expected(0, 1);
  command->add_flag("--random-weights", options->random_weights,
                    "MODEL is a folder with a config.json alone: random weights of its shape");
  command->add_flag("--profile", options->profile,
                    "Also where a step's time goes: device, host, and the device's gaps");
  CLI::Option* suite =
      command
          ->add_option("--suite", options->suite,
                       "A fixed list of measurements instead; peers: those that vLLM was measured "
                       "with (8192 tokens a step, 16384 a sequence, no prefix cache unless given)")
          ->check(CLI::IsMember({"peers"}));
  for (const char* fixed :
       {"--num-prompts", "--input-len", "--output-len", "--concurrency", "--profile"}) {
    suite->excludes(command->get_option(fixed));
  }
  command->parse_complete_callback([command = command, options = options] {
    if (!options->suite.empty()) take_suite_defaults(*command, options->engine);
  });
  add_engine_options(*command, options->engine);
  command->footer(
      "prefill: prompt tokens by time to the first token; decode: further tokens by the time they\n"
      "took, both as one request sees them. output: tokens of all requests by the wall clock.\n"
      "ttft: time to first token. itl: inter-token latency.");
}

}  // namespace matador
