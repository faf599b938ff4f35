// Metrics in Prometheus' text format, under vLLM's names, labels and buckets, so that its
// dashboards fit: https://docs.vllm.ai/en/stable/design/metrics.html
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/engine.h"

namespace matador {

class Metrics {
 public:
  // `engine` must outlive this.
  Metrics(const Engine& engine, const std::string& model_name);
  ~Metrics();

  void on_first_token(double seconds_since_arrival);
  void on_next_token(double seconds_since_the_last);

  // When a request of the engine came how far.
  struct Times {
    TimePoint queued = {}, scheduled = {}, first_token = {}, last_token = {};
  };
  void on_times(const Times& times);  // of a request that has tokens

  struct Finished {
    int64_t prompt_tokens = 0, cached_tokens = 0, generation_tokens = 0;
    int64_t longest_choice = 0;  // tokens
    int32_t n = 1, max_tokens = 0;
    double seconds = 0;         // from arrival to the end
    double decode_seconds = 0;  // from the first token to the last
  };
  void on_request(const Finished& request);  // that was answered
  void on_choice(std::string_view reason);   // "stop", "length", "abort" or "error"

  // The exposition, with the engine's own figures as they are now.
  std::string text() const;
  static const char* content_type();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace matador
