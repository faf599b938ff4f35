// What the conformance tests share: the backends this machine can run, random inputs, and the
// comparison with the reference backend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/cpu/cpu.h"
#include "backends/cuda/cuda.h"
#include "backends/reference/reference.h"
#include "uploading_backend.h"

namespace matador::testing {

// A backend to hold against the reference.
struct Subject {
  std::string name;
  std::function<std::unique_ptr<Backend>()> make;
  // Where a Precision::fast weight or table is bf16, of the largest value; else 0.
  float bf16_rounding = 0;
};
inline std::vector<Subject> subjects() {
  std::vector<Subject> result;
  for (Isa isa : available_isas()) {
    for (int threads : {1, 3}) {
      std::string name(matador::name_of(isa));
      std::replace(name.begin(), name.end(), '-', '_');
      result.push_back({name + "_" + std::to_string(threads) + "_threads", [isa, threads] {
                          return make_cpu_backend({.threads = threads, .isa = isa});
                        }});
    }
  }
  if (cuda_available()) {
    result.push_back({"cuda",
                      [] {
                        return std::make_unique<UploadingBackend>(
                            make_cuda_backend({.graphs = false, .reproducible = true}));
                      },
                      1e-2F});
  }
  return result;
}
inline std::string name_of(const ::testing::TestParamInfo<Subject>& info) {
  return info.param.name;
}
// For gtest's messages.
inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

inline std::vector<float> random_floats(size_t count, uint32_t seed, float spread = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

inline Tensor view(std::vector<float>& values, int64_t rows) {
  const int64_t cols = static_cast<int64_t>(values.size()) / rows;
  return {reinterpret_cast<std::byte*>(values.data()), DType::f32, rows, cols, cols};
}

// A matrix of random values in a format. `misalign` puts its first byte at an odd address.
inline HostWeight make_weight(const Format& format, int64_t rows, int64_t cols, uint32_t seed,
                              Precision precision, bool misalign = false) {
  std::vector<std::byte> aligned(static_cast<size_t>(rows * format.bytes(cols)));
  if (format.encode != nullptr) {
    const auto values = random_floats(static_cast<size_t>(rows * cols), seed, 0.1F);
    format.encode(values.data(), aligned.data(), rows * cols);
  } else {  // any bytes are a block; with these two bits clear every scale is finite
    std::mt19937 generator(seed);
    for (std::byte& byte : aligned) byte = std::byte{static_cast<uint8_t>(generator() & 0x3B)};
  }
  auto storage = std::make_shared<std::vector<std::byte>>(aligned.size() + 1);
  std::byte* data = storage->data() + (misalign ? 1 : 0);
  std::copy(aligned.begin(), aligned.end(), data);
  HostWeight weight;
  weight.format = &format;
  weight.rows = rows;
  weight.cols = cols;
  weight.data = data;
  weight.owner = storage;
  weight.precision = precision;
  return weight;
}

// Runs a program that returns one tensor and copies that out.
template <class Compute>
std::vector<float> run(Backend& backend, const Compute& compute) {
  Tensor result;
  backend.run({}, [&](Ops& ops) { result = compute(ops); });
  const std::span<const float> host = backend.to_host(result);
  return {host.begin(), host.end()};
}

// Every value within `tolerance` times the largest expected magnitude.
inline void expect_near(const std::vector<float>& actual, const std::vector<float>& expected,
                        float tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  float largest = 0;
  for (float value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance * largest) << "at " << i;
  }
}

// Sequences at some point of their lives, as a step of the engine would present them.
class TestBatch {
 public:
  struct Sequence {
    int32_t cached;  // tokens of earlier steps
    int32_t tokens;  // of this one
  };
  TestBatch(std::vector<Sequence> sequences, int32_t block_size, int32_t first_block = 0);

  const Batch& batch() const { return batch_; }
  int32_t num_blocks() const { return num_blocks_; }

 private:
  std::vector<int32_t> ids_, positions_, rope_lengths_, slots_, query_start_{0}, context_lens_,
      tables_;
  int32_t num_blocks_ = 0;
  Batch batch_;
};

}  // namespace matador::testing
