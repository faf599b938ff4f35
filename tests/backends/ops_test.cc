// The other operations against the reference.
#include "harness.h"

namespace matador {
namespace {

using testing::expect_near;
using testing::make_weight;
using testing::random_floats;
using testing::run;
using testing::Subject;
using testing::TestBatch;
using testing::view;

class Operations : public ::testing::TestWithParam<Subject> {
 protected:
  std::unique_ptr<Backend> backend_ = GetParam().make();
  std::shared_ptr<Backend> reference_ = make_reference_backend();

  // `program(ops, load)` on both; load makes the backend's weight of a host weight.
  template <class Program>
  void expect_agreement(const Program& program, float tolerance = 2e-6F) {
    auto results = [&](Backend& backend) {
      return run(backend, [&](Ops& ops) {
        return program(ops, [&](HostWeight host) { return backend.load(std::move(host)); });
      });
    };
    expect_near(results(*backend_), results(*reference_), tolerance);
  }
};

TEST_P(Operations, EmbedReadsRowsOfEveryFormat) {
  const TestBatch batch({{0, 5}, {3, 1}}, 16);
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const int64_t cols = format.block_values == 1 ? 23 : 2 * format.block_values;
    for (Precision precision : {Precision::exact, Precision::fast}) {
      HostWeight table = make_weight(format, 19, cols, 1, precision);
      table.is_table = true;
      const float rounding = precision == Precision::fast ? GetParam().bf16_rounding : 0;
      expect_agreement(
          [&](Ops& ops, auto load) { return ops.embed(load(table), batch.batch(), 3.5F); },
          std::max(2e-6F, rounding));
    }
  }
}

TEST_P(Operations, EmbedReadsTablesAtOddAddresses) {
  const TestBatch batch({{0, 5}}, 16);
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const int64_t cols = format.block_values == 1 ? 23 : 2 * format.block_values;
    auto embedded = [&](bool misalign) {
      HostWeight host = make_weight(format, 19, cols, 1, Precision::fast, misalign);
      host.is_table = true;
      const Weight table = backend_->load(std::move(host));
      return run(*backend_, [&](Ops& ops) { return ops.embed(table, batch.batch(), 1); });
    };
    EXPECT_EQ(embedded(true), embedded(false));
  }
}

TEST_P(Operations, EmbedPositionsReadsRowsBeyondAnOffset) {
  const TestBatch batch({{0, 5}, {3, 1}}, 16);
  for (int32_t offset : {0, 2}) {
    HostWeight table = make_weight(*find_format("f16"), 9, 23, 1, Precision::exact);
    table.is_table = true;
    expect_agreement([&](Ops& ops, auto load) {
      return ops.embed_positions(load(table), batch.batch(), offset);
    });
  }
}

TEST_P(Operations, NormsOfEveryKindAndGroup) {
  for (Norm::Kind kind : {Norm::Kind::rms, Norm::Kind::layer}) {
    for (int32_t group : {0, 17, 34}) {
      for (int64_t width : {int64_t{34}, int64_t{group == 0 ? 34 : group}}) {
        const Norm norm{.kind = kind, .eps = 1e-5F, .weight_offset = 1, .group = group};
        HostWeight w = make_weight(*find_format("bf16"), 1, width, 1, Precision::fast);
        std::vector<float> x = random_floats(3 * 34, 2, 5);
        expect_agreement([&](Ops& ops, auto load) { return ops.norm(view(x, 3), norm, load(w)); });
        w.bias = random_floats(static_cast<size_t>(width), 4);
        expect_agreement([&](Ops& ops, auto load) { return ops.norm(view(x, 3), norm, load(w)); });
      }
    }
  }
}

TEST_P(Operations, AddNormIsAnAdditionAndANorm) {
  std::vector<float> x = random_floats(40 * 576, 1);
  std::vector<float> y = random_floats(40 * 576, 2);
  const Norm norm{.kind = Norm::Kind::rms};
  const HostWeight w = make_weight(*find_format("f32"), 1, 576, 1, Precision::fast);
  for (bool normed : {true, false}) {
    expect_agreement([&](Ops& ops, auto load) {
      auto [n, sum] = ops.add_norm(view(x, 40), view(y, 40), norm, load(w));
      return normed ? n : sum;
    });
  }
}

TEST_P(Operations, ElementwiseOnSlicesOfColumns) {
  std::vector<float> x = random_floats(7 * 50, 1, 3);
  std::vector<float> y = random_floats(7 * 50, 2);
  const Tensor a = view(x, 7).columns(3, 37);
  const Tensor b = view(y, 7).columns(0, 37);
  expect_agreement([&](Ops& ops, auto) { return ops.add(a, b, -0.75F); });
  expect_agreement([&](Ops& ops, auto) { return ops.multiply(a, b); });
  for (Act act :
       {Act::silu, Act::gelu, Act::gelu_tanh, Act::relu, Act::relu_squared, Act::quick_gelu}) {
    SCOPED_TRACE(static_cast<int>(act));
    expect_agreement([&](Ops& ops, auto) { return ops.activate(a, act); });
    expect_agreement([&](Ops& ops, auto) { return ops.gated(a, b, act); });
  }
  expect_agreement([&](Ops& ops, auto) { return ops.clamp(a, 0.25F); });
  const std::vector<int32_t> rows = {6, 0, 3};
  expect_agreement([&](Ops& ops, auto) { return ops.take(a, rows); });
  expect_agreement([&](Ops& ops, auto) { return ops.scale_logits(a, 0.5F, 0); });
  expect_agreement([&](Ops& ops, auto) { return ops.scale_logits(a, 0.5F, 1.5F); });
}

TEST_P(Operations, ActivationsOfLargeInputsAreFinite) {
  std::vector<float> x = {-1e4F, -200, -89, -88, -20, -1e-3F, 0, 1e-30F, 20, 88, 89, 200, 1e4F};
  for (Act act :
       {Act::silu, Act::gelu, Act::gelu_tanh, Act::relu, Act::relu_squared, Act::quick_gelu}) {
    const auto actual = run(*backend_, [&](Ops& ops) { return ops.activate(view(x, 1), act); });
    const auto expected = run(*reference_, [&](Ops& ops) { return ops.activate(view(x, 1), act); });
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(actual[i], expected[i], 1e-6F + 1e-6F * std::abs(expected[i])) << x[i];
    }
  }
}

TEST_P(Operations, RopeOfBothPairings) {
  const TestBatch batch({{0, 9}, {4000, 2}}, 16);
  for (bool interleaved : {false, true}) {
    for (int32_t dim : {12, 20, 64}) {
      SCOPED_TRACE(::testing::Message() << dim << " interleaved " << interleaved);
      Rope rope;
      rope.dim = dim;
      rope.interleaved = interleaved;
      rope.attention_factor = 1.25F;
      expect_agreement([&](Ops& ops, auto) {
        static std::vector<float> x;
        x = random_floats(11 * 3 * 64, 1);
        Tensor heads = view(x, 11);
        ops.rope(heads, 64, rope, batch.batch());
        return heads;
      });
    }
  }
}

TEST_P(Operations, RopeFollowsTheLengthsOfItsTokens) {
  const TestBatch first({{0, 9}, {4000, 2}}, 16);
  const TestBatch second({{20, 9}, {10, 2}}, 16);
  Rope rope;
  rope.dim = 32;
  rope.scaling = Rope::Scaling::dynamic;
  rope.factor = 2;
  rope.original_max_position = 64;
  for (const TestBatch* batch : {&first, &second, &first}) {
    expect_agreement([&](Ops& ops, auto) {
      static std::vector<float> x;
      x = random_floats(11 * 64, 1);
      Tensor heads = view(x, 11);
      ops.rope(heads, 32, rope, batch->batch());
      return heads;
    });
  }
}

TEST_P(Operations, ReleasedMemoryNeverHoldsALiveTensor) {
  std::vector<float> x = random_floats(30 * 64, 1);
  const auto result = run(*backend_, [&](Ops& ops) {
    Tensor sum = ops.add(view(x, 30), view(x, 30), 0);
    for (int layer = 0; layer < 20; ++layer) {
      for (int i = 0; i < layer % 5; ++i) ops.multiply(view(x, 30), view(x, 30));
      const Tensor one = ops.add(sum, view(x, 30), 1);
      const Tensor live[] = {sum, one.columns(0, 64)};
      ops.release_except(live);
      sum = ops.add(sum, ops.add(one, sum, -1), 1);
      ops.release_except({&sum, 1});
    }
    return sum;
  });
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(result[i], 21 * x[i], 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Backends, Operations, ::testing::ValuesIn(testing::subjects()),
                         testing::name_of);

}  // namespace
}  // namespace matador
