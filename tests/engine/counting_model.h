// CountingModel: a model without weights whose likeliest token after t is t + 1. It lets a test
// say what the next token is, and break the device when it likes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "models/model.h"

namespace matador {

// Shared with the test, which may change it while the engine runs.
struct CountingControl {
  std::atomic<int> faults = 0;      // steps to throw in, from now on
  std::atomic<int> nan_after = -1;  // token whose successor's logits are NaN
  std::atomic<int> pause_ms = 0;    // a step takes at least this long
  std::atomic<int> steps = 0;
  std::atomic<int> most_tokens = 0;  // of any step
  std::atomic<int> most_rows = 0;    // of logits, of any step
};

class CountingModel final : public Model {
 public:
  static constexpr int32_t kVocab = 100;

  explicit CountingModel(std::shared_ptr<CountingControl> control, int32_t max_position = 64)
      : control_(std::move(control)) {
    info_.vocab_size = kVocab;
    info_.max_position = max_position;
  }

  const ModelInfo& info() const override { return info_; }
  std::vector<KvLayer> kv_layers(KvType type, int32_t block_size) const override {
    return {{.block_size = block_size, .num_kv_heads = 1, .head_dim = 8, .type = type}};
  }
  int32_t length_class(int32_t) const override { return 0; }
  std::string describe() const override { return "counts"; }

  Tensor forward(Ops&, const Batch& batch, const Cache&) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(control_->pause_ms));
    ++control_->steps;
    control_->most_tokens = std::max(control_->most_tokens.load(), batch.num_tokens());
    if (control_->faults > 0) {
      --control_->faults;
      throw std::runtime_error("the device is on fire");
    }
    auto rows = static_cast<int64_t>(batch.logit_tokens.size());
    control_->most_rows = std::max(control_->most_rows.load(), static_cast<int>(rows));
    logits_.assign(rows * kVocab, 0);
    for (int64_t row = 0; row < rows; ++row) {
      int32_t token = batch.token_ids[batch.logit_tokens[row]];
      bool breaks = token == control_->nan_after;
      logits_[row * kVocab + (token + 1) % kVocab] =
          breaks ? std::numeric_limits<float>::quiet_NaN() : 8;
    }
    return {reinterpret_cast<std::byte*>(logits_.data()), DType::f32, rows, kVocab, kVocab};
  }

 private:
  std::shared_ptr<CountingControl> control_;
  ModelInfo info_;
  mutable std::vector<float> logits_;
};

}  // namespace matador
