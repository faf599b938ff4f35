// A served model for tests of the API and the server: a tokenizer with one token a byte, a ChatML
// template, and a StubEngine that "generates" a fixed text at a given pace.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/served_model.h"

namespace matador {

inline constexpr int32_t kEndOfText = 256, kTurnStart = 257, kTurnEnd = 258;
inline constexpr int32_t kTinyVocabSize = 259;

// Token id = byte; above: <|endoftext|>, <|im_start|>, <|im_end|>.
std::shared_ptr<const Tokenizer> byte_tokenizer();
std::vector<int32_t> bytes_of(const std::string& text);

struct StubEngineOptions {
  std::string reply = "Hello, world!";  // repeated until max_tokens unless `ends`
  bool ends = true;                     // with <|im_end|> after the reply
  std::chrono::microseconds step{0};
  std::chrono::milliseconds prefill{0};
  int32_t max_model_len = 4096;
  std::string fail_with = {};  // every request ends with this error
};

// Runs all requests side by side, one token a step each. Choice i of a seeded request has its own
// letters, so that choices differ.
class StubEngine final : public Engine {
 public:
  explicit StubEngine(StubEngineOptions options);
  ~StubEngine() override;

  Result<RequestId> submit(Request request) override;
  void cancel(RequestId id, int32_t choice) override;
  void drain() override {}
  EngineStats stats() const override;
  const ModelInfo& model_info() const override { return info_; }
  int32_t max_model_len() const override { return options_.max_model_len; }
  bool healthy() const override { return true; }

  // What tests ask afterwards.
  int num_running() const;
  int num_submitted() const;
  int num_cancelled() const;
  Request last_request() const;

 private:
  struct Running {
    Request request;
    std::chrono::steady_clock::time_point ready;
    bool prompt_done = false;
    std::vector<int32_t> produced;
    std::vector<bool> open;
  };

  void run();
  void advance(Running& running);
  void produce(Running& running, int32_t choice);
  int32_t token_at(const Running& running, int32_t choice, int32_t index) const;

  StubEngineOptions options_;
  ModelInfo info_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<RequestId, Running> running_;
  Request last_;
  int num_submitted_ = 0, num_cancelled_ = 0;
  uint64_t num_tokens_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

struct TinyServedModel {
  explicit TinyServedModel(StubEngineOptions options = {});
  ServedModel served;
  StubEngine* engine;
};

}  // namespace matador
