// What only the CUDA backend has: bf16 activations, tensor-core kernels, captured steps.
#include <cmath>
#include <tuple>

#include "core/half.h"
#include "harness.h"

namespace matador {
namespace {

using testing::expect_near;
using testing::make_weight;
using testing::random_floats;
using testing::run;
using testing::TestBatch;
using testing::UploadingBackend;

class Cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device here, or a build without MATADOR_CUDA";
  }
  static std::unique_ptr<Backend> uploading(bool reproducible) {
    return std::make_unique<UploadingBackend>(
        make_cuda_backend({.graphs = false, .reproducible = reproducible}));
  }
};

// Numbers that bf16 holds exactly.
std::vector<float> bf16_floats(size_t count, uint32_t seed) {
  std::vector<float> values = random_floats(count, seed);
  for (float& value : values) value = to_float(to_bfloat16(value));
  return values;
}

std::vector<float> product(Backend& backend, const HostWeight& host, std::vector<float> x,
                           int64_t tokens) {
  const Weight w = backend.load(host);
  return run(backend, [&](Ops& ops) { return ops.linear(testing::view(x, tokens), w); });
}

TEST_F(Cuda, DenseProductsLoseNothingButTheSumsPrecision) {
  const auto reference = make_reference_backend();
  for (bool reproducible : {false, true}) {
    const auto cuda = uploading(reproducible);
    for (auto [rows, cols] : {std::pair{96, 64}, {50, 136}, {17, 1024}, {640, 576}, {520, 4096}}) {
      HostWeight w = make_weight(*find_format("bf16"), rows, cols, 1, Precision::fast);
      w.bias = random_floats(static_cast<size_t>(rows), 7);
      for (int64_t tokens : {1, 8, 9, 16, 31, 33, 100, 257}) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << cols << ", " << tokens << " tokens, "
                                          << (reproducible ? "reproducible" : "fast"));
        const auto x = bf16_floats(static_cast<size_t>(tokens * cols), 2);
        expect_near(product(*cuda, w, x, tokens), product(*reference, w, x, tokens), 1e-5F);
      }
    }
  }
}

TEST_F(Cuda, DenseProductsOfATokenHaveTheSameBitsInAnyBatch) {
  constexpr int64_t kRows = 640, kCols = 4096;
  const HostWeight w = make_weight(*find_format("bf16"), kRows, kCols, 1, Precision::fast);
  for (auto [reproducible, tokens] : {std::pair{false, 16}, {true, 50}, {true, 100}, {true, 300}}) {
    SCOPED_TRACE(tokens);
    const auto cuda = uploading(reproducible);
    const auto x = bf16_floats(static_cast<size_t>(tokens * kCols), 2);
    const std::vector<float> together = product(*cuda, w, x, tokens);
    for (int64_t t : {int64_t{0}, int64_t{9}, int64_t{tokens - 1}}) {
      const std::vector<float> row(x.begin() + t * kCols, x.begin() + (t + 1) * kCols);
      const std::vector<float> expected(together.begin() + t * kRows,
                                        together.begin() + (t + 1) * kRows);
      EXPECT_EQ(product(*cuda, w, row, 1), expected) << "token " << t;
    }
  }
}

TEST_F(Cuda, QuantisedWeightsOfManyTokensAreDecodedToBf16) {
  const auto reference = make_reference_backend();
  const auto cuda = uploading(false);
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const int64_t cols = 2 * std::max(format.block_values, 32);
    const HostWeight w = make_weight(format, 40, cols, 1, Precision::fast);
    const auto x = bf16_floats(static_cast<size_t>(50 * cols), 2);
    expect_near(product(*cuda, w, x, 50), product(*reference, w, x, 50), 1e-2F);
  }
}

struct Shape {
  int32_t heads = 8, kv_heads = 2, head_dim = 64;
  KvType type = KvType::bf16;
  int32_t window = 0;
  float softcap = 0;
  int32_t block_size = 16;
};

// One layer's cache; queries, keys and values are rows of bf16 tables by position.
class Layer {
 public:
  Layer(Backend& backend, const Shape& shape, int32_t num_blocks)
      : backend_(backend), shape_(shape) {
    kv_.num_blocks = num_blocks;
    kv_.block_size = shape.block_size;
    kv_.num_kv_heads = shape.kv_heads;
    kv_.head_dim = shape.head_dim;
    kv_.type = shape.type;
    kv_.block_bytes = backend.kv_block_bytes(kv_);
    buffer_ = backend.allocate(static_cast<size_t>(kv_.block_bytes * num_blocks));
    kv_.blocks = buffer_->data();
    uint32_t seed = 1;
    for (int32_t heads : {shape.heads, shape.kv_heads, shape.kv_heads}) {
      HostWeight table = make_weight(*find_format("bf16"), kPositions, heads * shape.head_dim,
                                     seed++, Precision::fast);
      std::vector<float> values =
          random_floats(static_cast<size_t>(kPositions * heads * shape.head_dim), seed + 40);
      auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * 2);
      table.format->encode(values.data(), bytes->data(), static_cast<int64_t>(values.size()));
      table.data = bytes->data();
      table.owner = bytes;
      table.is_table = true;
      tables_.push_back(backend.load(std::move(table)));
    }
  }

  std::vector<float> step(const Batch& planned) {
    Batch batch = planned;
    batch.token_ids = planned.positions;
    const Attend attend{.num_heads = shape_.heads,
                        .num_kv_heads = shape_.kv_heads,
                        .head_dim = shape_.head_dim,
                        .scale = 1 / std::sqrt(static_cast<float>(shape_.head_dim)),
                        .softcap = shape_.softcap,
                        .window = shape_.window};
    backend_.plan(batch);
    return run(backend_, [&](Ops& ops) {
      const Tensor q = ops.embed(tables_[0], batch, 1);
      const Tensor k = ops.embed(tables_[1], batch, 1);
      const Tensor v = ops.embed(tables_[2], batch, 1);
      ops.store_kv(kv_, k, v, batch);
      return ops.attend(q, kv_, attend, batch);
    });
  }

 private:
  static constexpr int32_t kPositions = 1100;
  Backend& backend_;
  Shape shape_;
  KvLayer kv_;
  std::unique_ptr<Buffer> buffer_;
  std::vector<Weight> tables_;
};

// Decodes beside prompts: each sequence's context is stored first, its last token then alone.
void expect_agreement(const Shape& shape) {
  SCOPED_TRACE(::testing::Message()
               << shape.heads << "/" << shape.kv_heads << " heads of " << shape.head_dim
               << ", window " << shape.window << ", blocks of " << shape.block_size);
  const TestBatch prompts({{0, 130}, {0, 1}, {0, 700}, {0, 33}}, shape.block_size);
  const TestBatch next({{130, 1}, {1, 17}, {700, 1}, {33, 1}}, shape.block_size);
  const auto cuda = make_cuda_backend({.graphs = false});
  const auto reference = make_reference_backend();
  Layer actual(*cuda, shape, next.num_blocks());
  Layer expected(*reference, shape, next.num_blocks());
  expect_near(actual.step(prompts.batch()), expected.step(prompts.batch()), 1e-2F);
  expect_near(actual.step(next.batch()), expected.step(next.batch()), 1e-2F);
}

TEST_F(Cuda, TensorAttentionOfEveryHeadSizeAndCacheType) {
  for (int32_t head_dim : {64, 80, 96, 128, 256}) {
    for (KvType type : {KvType::bf16, KvType::f16}) {
      expect_agreement({.head_dim = head_dim, .type = type});
    }
  }
}

TEST_F(Cuda, TensorAttentionOfEveryGroup) {
  for (auto [heads, kv_heads] : {std::pair{2, 2}, {9, 3}, {8, 1}, {16, 1}, {24, 1}, {71, 1}}) {
    expect_agreement({.heads = heads, .kv_heads = kv_heads});
  }
}

TEST_F(Cuda, TensorAttentionWithWindowsCapsAndOddBlocks) {
  for (int32_t window : {1, 100, 300}) expect_agreement({.window = window});
  expect_agreement({.softcap = 2});
  for (int32_t block_size : {1, 7, 32, 256}) expect_agreement({.block_size = block_size});
}

TEST_F(Cuda, TensorAttentionGivesTheSameBitsHoweverAPromptIsCut) {
  for (int32_t window : {0, 200}) {
    for (int32_t head_dim : {64, 128, 256}) {
      const Shape shape{.head_dim = head_dim, .window = window};
      constexpr int32_t kTokens = 700;
      const TestBatch whole({{0, kTokens}}, shape.block_size);
      const auto cuda = make_cuda_backend({.graphs = false});
      Layer once(*cuda, shape, whole.num_blocks());
      const std::vector<float> expected = once.step(whole.batch());
      Layer chunked(*cuda, shape, whole.num_blocks());
      std::vector<float> actual;
      for (int32_t done = 0, chunk = 1; done < kTokens;
           done += chunk, chunk = chunk % 211 * 3 + 1) {
        chunk = std::min(chunk, kTokens - done);
        const TestBatch part({{done, chunk}}, shape.block_size,
                             whole.num_blocks() - (done + chunk + 15) / 16);
        const std::vector<float> rows = chunked.step(part.batch());
        actual.insert(actual.end(), rows.begin(), rows.end());
      }
      EXPECT_EQ(actual, expected) << head_dim << ", window " << window;
    }
  }
}

TEST_F(Cuda, ReplayedStepsGiveTheSameBitsAsLaunchedOnes) {
  const Shape shape{.heads = 8, .kv_heads = 2, .head_dim = 64};
  const auto graphs = make_cuda_backend({});
  const auto launches = make_cuda_backend({.graphs = false});
  const int32_t kBlocks = 3 * 64;
  Layer replayed(*graphs, shape, kBlocks);
  Layer launched(*launches, shape, kBlocks);
  const TestBatch prompts({{0, 100}, {0, 127}, {0, 5}}, shape.block_size, 0);
  EXPECT_EQ(replayed.step(prompts.batch()), launched.step(prompts.batch()));
  for (int32_t i = 0; i < 40; ++i) {
    const TestBatch next({{100 + i, 1}, {127 + i, 1}, {5 + i, 1}}, shape.block_size,
                         kBlocks - 3 * ((127 + i + shape.block_size) / shape.block_size));
    ASSERT_EQ(replayed.step(next.batch()), launched.step(next.batch())) << "step " << i;
  }
}

// Kernels that start before the one they read from has ended must still see all of it.
TEST_F(Cuda, ReplayedChainsOfProductsGiveTheSameBitsAsLaunchedOnes) {
  constexpr int32_t kWidth = 512, kInner = 1024, kTokens = 700;
  const auto chain = [&](Backend& backend) {
    struct Weights {
      Weight table, norm, gate, up, down;
    };
    const auto load = [&](int64_t rows, int64_t cols, uint32_t seed) {
      return backend.load(make_weight(*find_format("bf16"), rows, cols, seed, Precision::fast));
    };
    const Weights w{load(kTokens, kWidth, 1), load(1, kWidth, 2), load(kInner, kWidth, 3),
                    load(kInner, kWidth, 4), load(kWidth, kInner, 5)};
    std::vector<std::vector<float>> results;
    for (int32_t step = 0; step < 30; ++step) {
      const TestBatch next({{100 + step, 1}, {step, 1}, {2 * step, 1}}, 16);
      Batch batch = next.batch();
      batch.token_ids = batch.positions;
      backend.plan(batch);
      results.push_back(run(backend, [&](Ops& ops) {
        Tensor x = ops.embed(w.table, batch, 1);
        Tensor h = ops.norm(x, {.kind = Norm::Kind::rms}, w.norm);
        for (int layer = 0; layer < 8; ++layer) {
          const Weight* both[] = {&w.gate, &w.up};
          const std::vector<Tensor> inner = ops.linears(h, both);
          const Tensor y = ops.linear(ops.gated(inner[0], inner[1], Act::silu), w.down);
          std::tie(h, x) = ops.add_norm(x, y, {.kind = Norm::Kind::rms}, w.norm);
          const Tensor live[] = {h, x};
          ops.release_except(live);
        }
        return x;
      }));
    }
    return results;
  };
  EXPECT_EQ(chain(*make_cuda_backend({})), chain(*make_cuda_backend({.graphs = false})));
}

TEST_F(Cuda, RandomWeightsAreTheSameAsOnTheHost) {
  HostWeight shape;
  shape.format = find_format("bf16");
  shape.rows = 50;
  shape.cols = 96;
  shape.is_table = true;
  const TestBatch batch({{0, 50}}, 16);
  const auto rows_of = [&](Backend& backend) {
    const Weight table = backend.make_random(shape, 7);
    return run(backend, [&](Ops& ops) { return ops.embed(table, batch.batch(), 1); });
  };
  EXPECT_EQ(rows_of(*uploading(false)), rows_of(*make_reference_backend()));
}

}  // namespace
}  // namespace matador
