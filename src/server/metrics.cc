#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <limits>

namespace matador {
namespace {

using prometheus::Histogram;
using prometheus::MetricFamily;
using prometheus::MetricType;

using Buckets = Histogram::BucketBoundaries;
const char* const kHelpTokens = "Tokens of a request";

double seconds(TimePoint from, TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

Buckets first_token_buckets() {
  return {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1,  0.25,  0.5,   0.75,
          1.0,   2.5,   5.0,  7.5,  10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0};
}
Buckets next_token_buckets() {
  return {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,  0.3,  0.4, 0.5,
          0.75, 1.0,   2.5,  5.0,   7.5, 10.0, 20.0, 40.0, 80.0};
}
Buckets request_buckets() {
  return {0.3,  0.5,  0.8,  1.0,  1.5,   2.0,   2.5,   5.0,   10.0,   15.0,  20.0,
          30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0};
}
// 1, 2, 5, 10, 20, 50... up to the longest context.
Buckets token_buckets(int32_t max_model_len) {
  Buckets buckets;
  for (int64_t ten = 1; ten <= max_model_len; ten *= 10)
    for (int64_t step : {1, 2, 5})
      if (step * ten <= max_model_len) buckets.push_back(static_cast<double>(step * ten));
  return buckets;
}

}  // namespace

struct Metrics::Impl {
  Impl(const Engine& e, const std::string& model_name)
      : engine(e), labels{{"engine", "0"}, {"model_name", model_name}} {}

  Histogram& histogram(const char* name, const char* help, const Buckets& buckets) {
    return prometheus::BuildHistogram()
        .Name(std::string("vllm:") + name)
        .Help(help)
        .Register(registry)
        .Add(labels, buckets);
  }
  prometheus::Counter& successes(const char* reason) {
    prometheus::Labels with_reason = labels;
    with_reason["finished_reason"] = reason;
    return success_family.Add(with_reason);
  }
  MetricFamily engine_family(const char* name, const char* help, MetricType type,
                             double value) const {
    prometheus::ClientMetric metric;
    for (const auto& [key, text] : labels) metric.label.push_back({key, text});
    (type == MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
    return {std::string("vllm:") + name, help, type, {std::move(metric)}};
  }
  MetricFamily step_tokens_family(const StepTokens& steps) const;
  std::vector<MetricFamily> engine_families() const;

  const Engine& engine;
  prometheus::Labels labels;
  prometheus::Registry registry;
  Buckets tokens = token_buckets(engine.max_model_len());

  Histogram& first_token =
      histogram("time_to_first_token_seconds", "Seconds from arrival to the first token",
                first_token_buckets());
  Histogram& next_token = histogram("inter_token_latency_seconds",
                                    "Seconds between two tokens of a choice", next_token_buckets());
  Histogram& per_token =
      histogram("request_time_per_output_token_seconds",
                "Mean seconds a token of a request, after its first", next_token_buckets());
  Histogram& latency = histogram("e2e_request_latency_seconds", "Seconds from arrival to the end",
                                 request_buckets());
  Histogram& queue = histogram("request_queue_time_seconds", "Seconds that a request waited to run",
                               request_buckets());
  Histogram& prefill = histogram("request_prefill_time_seconds",
                                 "Seconds from running to the first token", request_buckets());
  Histogram& decode = histogram("request_decode_time_seconds",
                                "Seconds from the first token to the last", request_buckets());
  Histogram& inference = histogram("request_inference_time_seconds",
                                   "Seconds from running to the last token", request_buckets());
  Histogram& prompt_tokens = histogram("request_prompt_tokens", kHelpTokens, tokens);
  Histogram& computed_tokens =
      histogram("request_prefill_kv_computed_tokens",
                "Prompt tokens of a request that the prefix cache did not have", tokens);
  Histogram& generation_tokens = histogram("request_generation_tokens", kHelpTokens, tokens);
  Histogram& longest_choice = histogram("request_max_num_generation_tokens",
                                        "Tokens of a request's longest choice", tokens);
  Histogram& max_tokens = histogram("request_params_max_tokens", "max_tokens of a request", tokens);
  Histogram& num_choices = histogram("request_params_n", "n of a request", {1, 2, 5, 10, 20});
  prometheus::Family<prometheus::Counter>& success_family =
      prometheus::BuildCounter()
          .Name("vllm:request_success_total")
          .Help("Choices that ended, by reason")
          .Register(registry);
  prometheus::Counter& stopped = successes("stop");
  prometheus::Counter& length = successes("length");
  prometheus::Counter& aborted = successes("abort");
  prometheus::Counter& failed = successes("error");
};

MetricFamily Metrics::Impl::step_tokens_family(const StepTokens& steps) const {
  MetricFamily family = engine_family("iteration_tokens_total", "Tokens computed in a step",
                                      MetricType::Histogram, 0);
  prometheus::ClientMetric::Histogram& histogram = family.metric.front().histogram;
  for (size_t i = 0; i < steps.counts.size(); ++i) {
    histogram.sample_count += steps.counts[i];
    const bool last = i == StepTokens::kBounds.size();
    histogram.bucket.push_back(
        {histogram.sample_count,
         last ? std::numeric_limits<double>::infinity() : double(StepTokens::kBounds[i])});
  }
  histogram.sample_sum = static_cast<double>(steps.sum);
  return family;
}

std::vector<MetricFamily> Metrics::Impl::engine_families() const {
  EngineStats now = engine.stats();
  auto gauge = [&](const char* name, const char* help, double value) {
    return engine_family(name, help, MetricType::Gauge, value);
  };
  auto counter = [&](const char* name, const char* help, uint64_t value) {
    return engine_family(name, help, MetricType::Counter, static_cast<double>(value));
  };
  return {
      gauge("num_requests_running", "Sequences in the running batch", now.num_running),
      gauge("num_requests_waiting", "Requests waiting to be scheduled", now.num_waiting),
      gauge("kv_cache_usage_perc", "Part of the KV cache in use, 0 to 1", now.kv_cache_usage),
      counter("prefix_cache_queries_total", "Tokens looked up in the prefix cache",
              now.prefix_queries),
      counter("prefix_cache_hits_total", "Tokens found in the prefix cache", now.prefix_hits),
      counter("num_preemptions_total", "Sequences put back for want of blocks", now.preemptions),
      counter("prompt_tokens_total", "Prompt tokens processed", now.prompt_tokens),
      counter("prompt_tokens_cached_total", "Prompt tokens that the prefix cache had",
              now.prefix_hits),
      counter("generation_tokens_total", "Tokens generated", now.generation_tokens),
      step_tokens_family(now.step_tokens)};
}

Metrics::Metrics(const Engine& engine, const std::string& model_name)
    : impl_(std::make_unique<Impl>(engine, model_name)) {}
Metrics::~Metrics() = default;

void Metrics::on_first_token(double seconds) { impl_->first_token.Observe(seconds); }
void Metrics::on_next_token(double seconds) { impl_->next_token.Observe(seconds); }

void Metrics::on_times(const Times& times) {
  impl_->queue.Observe(seconds(times.queued, times.scheduled));
  impl_->prefill.Observe(seconds(times.scheduled, times.first_token));
  impl_->decode.Observe(seconds(times.first_token, times.last_token));
  impl_->inference.Observe(seconds(times.scheduled, times.last_token));
}

void Metrics::on_request(const Finished& request) {
  impl_->latency.Observe(request.seconds);
  impl_->prompt_tokens.Observe(static_cast<double>(request.prompt_tokens));
  impl_->computed_tokens.Observe(
      static_cast<double>(request.prompt_tokens - request.cached_tokens));
  impl_->generation_tokens.Observe(static_cast<double>(request.generation_tokens));
  impl_->longest_choice.Observe(static_cast<double>(request.longest_choice));
  impl_->max_tokens.Observe(request.max_tokens);
  impl_->num_choices.Observe(request.n);
  if (request.generation_tokens > 1)
    impl_->per_token.Observe(request.decode_seconds /
                             static_cast<double>(request.generation_tokens - 1));
}

void Metrics::on_choice(std::string_view reason) {
  if (reason == "stop") return impl_->stopped.Increment();
  if (reason == "length") return impl_->length.Increment();
  if (reason == "abort") return impl_->aborted.Increment();
  impl_->failed.Increment();
}

std::string Metrics::text() const {
  std::vector<MetricFamily> families = impl_->engine_families();
  for (MetricFamily& family : impl_->registry.Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

const char* Metrics::content_type() { return "text/plain; version=0.0.4; charset=utf-8"; }

}  // namespace matador
