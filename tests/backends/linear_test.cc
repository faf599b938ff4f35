// Linear layers of every format against the reference.
#include "harness.h"

namespace matador {
namespace {

using testing::expect_near;
using testing::make_weight;
using testing::random_floats;
using testing::run;
using testing::Subject;
using testing::view;

class Linear : public ::testing::TestWithParam<Subject> {
 protected:
  std::unique_ptr<Backend> backend_ = GetParam().make();
  std::shared_ptr<Backend> reference_ = make_reference_backend();

  static std::vector<float> apply(Backend& backend, HostWeight host, std::vector<float> x,
                                  int64_t tokens) {
    const Weight w = backend.load(std::move(host));
    return run(backend, [&](Ops& ops) { return ops.linear(view(x, tokens), w); });
  }
};

int64_t cols_for(const Format& format, int64_t plain) {
  return format.block_values == 1 ? plain : 3 * format.block_values;
}

TEST_P(Linear, WithExactInputsEqualsTheReferenceForEveryFormat) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const int64_t cols = cols_for(format, 75);
    for (int64_t tokens : {1, 5}) {
      const auto x = random_floats(static_cast<size_t>(tokens * cols), 2);
      const HostWeight w = make_weight(format, 37, cols, 1, Precision::exact);
      expect_near(apply(*backend_, w, x, tokens), apply(*reference_, w, x, tokens), 3e-6F);
    }
  }
}

// Signed bytes hold an activation to 1/254 of its block's peak: errors of many columns partly
// cancel, so a few thousandths of the largest output remain.
TEST_P(Linear, WithFastInputsIsNearTheReferenceForEveryFormat) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const int64_t cols = cols_for(format, 75);
    for (int64_t tokens : {1, 2, 13}) {
      const auto x = random_floats(static_cast<size_t>(tokens * cols), 2);
      const HostWeight w = make_weight(format, 37, cols, 1, Precision::fast);
      expect_near(apply(*backend_, w, x, tokens), apply(*reference_, w, x, tokens), 1e-2F);
    }
  }
}

// With inputs that signed bytes hold exactly, only the sums' rounding is left.
TEST_P(Linear, WithFastInputsLosesNothingButTheInputsPrecision) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const int64_t cols = cols_for(format, 96);
    std::vector<float> x(static_cast<size_t>(3 * cols));
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = i % 32 == 0 ? 127 : static_cast<float>(static_cast<int>(i * 37 % 255) - 127);
    }
    const HostWeight w = make_weight(format, 33, cols, 1, Precision::fast);
    const float rounding = format.block_values == 1 ? GetParam().bf16_rounding : 0;
    expect_near(apply(*backend_, w, x, 3), apply(*reference_, w, x, 3), std::max(3e-6F, rounding));
  }
}

TEST_P(Linear, ReadsWeightsAtOddAddresses) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const int64_t cols = cols_for(format, 40);
    const auto x = random_floats(static_cast<size_t>(cols), 2);
    for (Precision precision : {Precision::exact, Precision::fast}) {
      const HostWeight even = make_weight(format, 20, cols, 1, precision);
      const HostWeight odd = make_weight(format, 20, cols, 1, precision, true);
      EXPECT_EQ(apply(*backend_, odd, x, 1), apply(*backend_, even, x, 1));
    }
  }
}

TEST_P(Linear, AddsTheBias) {
  for (std::string_view format : {"f32", "bf16", "q4_1", "q6_k"}) {
    for (Precision precision : {Precision::exact, Precision::fast}) {
      HostWeight w = make_weight(*find_format(format), 21, 256, 1, precision);
      w.bias = random_floats(21, 3, 100);
      const auto x = random_floats(2 * 256, 2);
      expect_near(apply(*backend_, w, x, 2), apply(*reference_, w, x, 2), 1e-3F);
    }
  }
}

TEST_P(Linear, GivesATokenTheSameBitsInAnyBatch) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const int64_t cols = cols_for(format, 130);
    constexpr int64_t kTokens = 107;
    const auto x = random_floats(static_cast<size_t>(kTokens * cols), 2);
    for (Precision precision : {Precision::exact, Precision::fast}) {
      const HostWeight w = make_weight(format, 50, cols, 1, precision);
      const std::vector<float> together = apply(*backend_, w, x, kTokens);
      for (int64_t t : {int64_t{0}, int64_t{50}, kTokens - 1}) {
        const std::vector<float> row(x.begin() + t * cols, x.begin() + (t + 1) * cols);
        const std::vector<float> expected(together.begin() + t * 50,
                                          together.begin() + (t + 1) * 50);
        ASSERT_EQ(apply(*backend_, w, row, 1), expected) << "token " << t;
      }
    }
  }
}

TEST_P(Linear, TakesSeveralWeightsAndASliceOfColumnsAtOnce) {
  std::vector<float> x = random_floats(6 * 512, 2);
  std::vector<Weight> weights;
  uint32_t seed = 1;
  for (std::string_view format : {"q4_k", "f32", "q8_0", "tq2_0"}) {
    const auto precision = seed % 2 == 0 ? Precision::exact : Precision::fast;
    weights.push_back(
        backend_->load(make_weight(*find_format(format), 10 * seed, 256, seed, precision)));
    ++seed;
  }
  const std::vector<const Weight*> pointers = {&weights[0], &weights[1], &weights[2], &weights[3]};
  const Tensor slice = view(x, 6).columns(256, 256);
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto alone = run(*backend_, [&](Ops& ops) { return ops.linear(slice, weights[i]); });
    EXPECT_EQ(run(*backend_, [&](Ops& ops) { return ops.linears(slice, pointers)[i]; }), alone);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Linear, ::testing::ValuesIn(testing::subjects()),
                         testing::name_of);

}  // namespace
}  // namespace matador
