// What the CUDA benches share: random weights, batches, and the median of a few runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "backends/cuda/cuda.h"

namespace matador {

inline constexpr int32_t kBlockSize = 16;

// Weights of any shape from one run of random numbers.
class RandomWeights {
 public:
  explicit RandomWeights(size_t values) : bits_(values) {
    std::mt19937 generator(1);
    for (uint16_t& bits : bits_) {  // +-2^-8 .. 2^-6
      bits = static_cast<uint16_t>((generator() & 0x80FF) | 0x3B80);
    }
  }
  Weight make(Backend& backend, int64_t rows, int64_t cols) const {
    HostWeight host;
    host.format = find_format("bf16");
    host.rows = rows;
    host.cols = cols;
    host.data = reinterpret_cast<const std::byte*>(bits_.data());
    host.precision = Precision::fast;
    return backend.load(std::move(host));
  }

 private:
  std::vector<uint16_t> bits_;
};

// `sequences` of `cached` tokens, each with `tokens` more to compute.
struct Work {
  std::vector<int32_t> ids, positions, slots, query_start{0}, contexts, tables, last;
  Batch batch;

  Work(int32_t sequences, int32_t cached, int32_t tokens) {
    const int32_t stride = (cached + tokens + kBlockSize - 1) / kBlockSize;
    for (int32_t s = 0; s < sequences; ++s) {
      for (int32_t i = 0; i < stride; ++i) tables.push_back(s * stride + i);
      for (int32_t i = 0; i < tokens; ++i) {
        ids.push_back((s * 131 + i * 17) % 8000);
        positions.push_back(cached + i);
        slots.push_back(s * stride * kBlockSize + cached + i);
      }
      contexts.push_back(cached + tokens);
      query_start.push_back(static_cast<int32_t>(ids.size()));
      last.push_back(query_start.back() - 1);
    }
    batch = {ids,      positions, positions, slots,      query_start,
             contexts, tables,    stride,    kBlockSize, last};
  }
};

// Seconds.
inline double median_time(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    times.push_back(seconds.count());
  }
  times.erase(times.begin(), times.begin() + 3);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace matador
