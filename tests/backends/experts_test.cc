// Mixture of experts and per-head projections against the reference, and bit for bit against
// themselves in other batches.
#include "harness.h"

namespace matador {
namespace {

using testing::expect_near;
using testing::make_weight;
using testing::random_floats;
using testing::run;
using testing::Subject;
using testing::view;

HostWeight stack(const Format& format, int32_t count, int64_t rows, int64_t cols, uint32_t seed,
                 Precision precision) {
  HostWeight weight = make_weight(format, count * rows, cols, seed, precision);
  weight.count = count;
  weight.rows = rows;
  return weight;
}

class Experts : public ::testing::TestWithParam<Subject> {
 protected:
  struct Case {
    std::string_view format = "f32";
    Precision precision = Precision::exact;
    bool gated = true;
    bool bias = false;
    Expert expert = {};
    int32_t experts = 7;
    int64_t hidden = 64, inner = 40;
  };

  static std::vector<float> apply(Backend& backend, const Case& c, std::vector<float> x,
                                  std::vector<float> logits) {
    const Format& format = *find_format(c.format);
    const auto load = [&](int64_t rows, int64_t cols, uint32_t seed) {
      HostWeight host = stack(format, c.experts, rows, cols, seed, c.precision);
      if (c.bias) host.bias = random_floats(static_cast<size_t>(c.experts * rows), seed + 10);
      return backend.load(std::move(host));
    };
    const Weight gate = load(c.inner, c.hidden, 1);
    const Weight up = load(c.inner, c.hidden, 2);
    const Weight down = load(c.hidden, c.inner, 3);
    const ExpertWeights weights{c.gated ? &gate : nullptr, &up, &down};
    const Routing routing{.num_experts = c.experts, .top_k = 3, .normalise = true};
    const auto tokens = static_cast<int64_t>(logits.size()) / c.experts;
    return run(backend, [&](Ops& ops) {
      const Routes routes = ops.route(view(logits, tokens), routing, nullptr);
      return ops.experts(view(x, tokens), routes, weights, c.expert);
    });
  }

  void expect_agreement(const Case& c, float tolerance) {
    for (int64_t tokens : {1, 2, 29}) {
      const auto x = random_floats(static_cast<size_t>(tokens * c.hidden), 5);
      const auto logits = random_floats(static_cast<size_t>(tokens * c.experts), 6, 2);
      expect_near(apply(*backend_, c, x, logits), apply(*reference_, c, x, logits), tolerance);
    }
  }

  std::unique_ptr<Backend> backend_ = GetParam().make();
  std::shared_ptr<Backend> reference_ = make_reference_backend();
};

TEST_P(Experts, EqualTheReferenceInEveryFormat) {
  for (std::string_view format : {"f32", "f16", "bf16", "q4_0", "q8_0", "q4_k", "mxfp4"}) {
    SCOPED_TRACE(format);
    const bool super = format == "q4_k";
    const Case exact{.format = format, .hidden = super ? 256 : 64, .inner = super ? 256 : 96};
    expect_agreement(exact, 4e-6F);
    Case fast = exact;
    fast.precision = Precision::fast;
    expect_agreement(fast, 3e-2F);
  }
}

TEST_P(Experts, HaveAllTheirForms) {
  expect_agreement({.gated = false, .expert = {.act = Act::relu}}, 4e-6F);
  expect_agreement({.bias = true}, 4e-6F);
  expect_agreement({.expert = {.weigh_input = true}}, 4e-6F);
  expect_agreement({.bias = true, .expert = {.limit = 0.5F, .up_offset = 1}}, 4e-6F);
  expect_agreement({.gated = false, .bias = true, .expert = {.act = Act::gelu}}, 4e-6F);
}

TEST_P(Experts, GiveATokenTheSameBitsInAnyBatch) {
  for (std::string_view format : {"f32", "bf16", "q8_0"}) {
    for (Precision precision : {Precision::exact, Precision::fast}) {
      const Case c{.format = format, .precision = precision, .bias = true, .inner = 96};
      constexpr size_t kTokens = 41;
      const auto x = random_floats(kTokens * 64, 5);
      const auto logits = random_floats(kTokens * 7, 6, 2);
      const std::vector<float> together = apply(*backend_, c, x, logits);
      for (size_t t : {size_t{0}, size_t{20}, kTokens - 1}) {
        const auto row = [&](const std::vector<float>& all, size_t width) {
          const auto first = all.begin() + static_cast<ptrdiff_t>(t * width);
          return std::vector<float>(first, first + static_cast<ptrdiff_t>(width));
        };
        EXPECT_EQ(apply(*backend_, c, row(x, 64), row(logits, 7)), row(together, 64))
            << format << " token " << t;
      }
    }
  }
}

TEST_P(Experts, AreChosenAsByTheReference) {
  constexpr int64_t kTokens = 50;
  std::vector<float> logits = random_floats(kTokens * 12, 1, 2);
  const Routing routings[] = {
      {.num_experts = 12, .top_k = 4},
      {.num_experts = 12, .top_k = 4, .normalise = true, .scale = 2.5F},
      {.num_experts = 12, .top_k = 3, .num_groups = 4, .top_groups = 2},
      {.num_experts = 12,
       .top_k = 4,
       .score = Routing::Score::sigmoid,
       .corrected = true,
       .num_groups = 3,
       .top_groups = 2,
       .groups_by_two = true,
       .normalise = true},
      {.num_experts = 12, .top_k = 2, .score = Routing::Score::sparsemixer, .jitter = 0.2F}};
  for (const Routing& routing : routings) {
    const auto routed = [&](Backend& backend, bool weights) {
      HostWeight host = make_weight(*find_format("f32"), 1, 12, 3, Precision::exact);
      const Weight correction = backend.load(std::move(host));
      return run(backend, [&](Ops& ops) {
        const Routes routes =
            ops.route(view(logits, kTokens), routing, routing.corrected ? &correction : nullptr);
        Tensor shown = weights ? routes.weights : routes.experts;
        shown.dtype = DType::f32;  // the same bits
        return shown;
      });
    };
    EXPECT_EQ(routed(*backend_, false), routed(*reference_, false));
    expect_near(routed(*backend_, true), routed(*reference_, true), 1e-6F);
  }
}

TEST_P(Experts, HeadsMultiplyTheirOwnColumns) {
  for (std::string_view format : {"f32", "bf16", "q8_0"}) {
    std::vector<float> x = random_floats(9 * 5 * 64, 1);
    const auto apply_heads = [&](Backend& backend) {
      const Weight w = backend.load(stack(*find_format(format), 5, 24, 64, 2, Precision::exact));
      return run(backend, [&](Ops& ops) { return ops.linear_heads(view(x, 9), w); });
    };
    expect_near(apply_heads(*backend_), apply_heads(*reference_), 4e-6F);
  }
}

TEST_P(Experts, HeadsKeepTheRestOfTheirColumns) {
  std::vector<float> x = random_floats(3 * 5 * 20, 1);
  const auto apply_heads = [&](Backend& backend) {
    const Weight w = backend.load(stack(*find_format("f32"), 5, 24, 12, 2, Precision::exact));
    return run(backend, [&](Ops& ops) { return ops.linear_heads(view(x, 3), w); });
  };
  const std::vector<float> result = apply_heads(*backend_);
  ASSERT_EQ(result.size(), 3U * 5 * 32);
  EXPECT_EQ(result[24], x[12]);
  expect_near(result, apply_heads(*reference_), 4e-6F);
}

TEST_P(Experts, ConcatPutsColumnsSideBySide) {
  std::vector<float> x = random_floats(4 * 10, 1), y = random_floats(4 * 7, 2);
  const auto both = run(*backend_, [&](Ops& ops) { return ops.concat(view(x, 4), view(y, 4)); });
  EXPECT_EQ(both, run(*reference_, [&](Ops& ops) { return ops.concat(view(x, 4), view(y, 4)); }));
}

INSTANTIATE_TEST_SUITE_P(Backends, Experts, ::testing::ValuesIn(testing::subjects()),
                         testing::name_of);

}  // namespace
}  // namespace matador
