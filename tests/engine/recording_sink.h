// RecordingSink: an EventSink that keeps what it gets, checks the order of events, and lets a test
// wait for the end.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/request.h"

namespace matador {

class RecordingSink final : public EventSink {
 public:
  struct Choice {
    std::vector<int32_t> tokens;
    std::vector<TokenLogprobs> logprobs;
    bool finished = false;
    FinishReason reason = FinishReason::stop;
    int32_t stop_token = -1;
    std::string error;
  };

  explicit RecordingSink(int32_t n = 1) : choices_(n) {}

  void push(Event event) override {
    std::lock_guard lock(mutex_);
    Choice& choice = choices_.at(event.choice);
    if (event.kind == Event::Kind::prompt_done) {
      EXPECT_FALSE(prompt_done_);
      prompt_done_ = true;
      num_cached_tokens_ = event.num_cached_tokens;
      prompt_logprobs_ = std::move(event.prompt_logprobs);
      return;
    }
    EXPECT_FALSE(choice.finished) << "an event after the end";
    if (event.kind == Event::Kind::token) {
      EXPECT_TRUE(prompt_done_);
      choice.tokens.push_back(event.token);
      if (event.logprobs) choice.logprobs.push_back(std::move(*event.logprobs));
      changed_.notify_all();
      return;
    }
    choice.finished = true;
    choice.reason = event.reason;
    choice.stop_token = event.stop_token;
    choice.error = std::move(event.error);
    ++num_finished_;
    changed_.notify_all();
  }

  // The rest may be read once all are finished, or by the thread that pushes.
  bool all_finished() const {
    std::lock_guard lock(mutex_);
    return num_finished_ == choices_.size();
  }
  // False after half a minute.
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return num_finished_ == choices_.size(); });
  }
  bool wait_for_tokens(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] {
      return num_finished_ == choices_.size() || choices_[0].tokens.size() >= count;
    });
  }

  const Choice& choice(int32_t index = 0) const { return choices_.at(index); }
  bool prompt_done() const { return prompt_done_; }
  int32_t num_cached_tokens() const { return num_cached_tokens_; }
  const std::vector<TokenLogprobs>& prompt_logprobs() const { return prompt_logprobs_; }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Choice> choices_;
  size_t num_finished_ = 0;
  bool prompt_done_ = false;
  int32_t num_cached_tokens_ = 0;
  std::vector<TokenLogprobs> prompt_logprobs_;
};

}  // namespace matador
