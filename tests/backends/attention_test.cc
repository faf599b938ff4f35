// Attention over the paged cache against the reference, and its independence of the batch.
#include <cmath>

#include "harness.h"

namespace matador {
namespace {

using testing::expect_near;
using testing::random_floats;
using testing::Subject;
using testing::TestBatch;
using testing::view;

struct Shape {
  int32_t heads = 6, kv_heads = 2, head_dim = 64, block_size = 16;
  KvType type = KvType::f32;
  int32_t window = 0;
  float softcap = 0;
  float alibi_max = 0, alibi_scale = 1;
  int32_t chunk = 0;
  float temperature = 0;
  int32_t latent = 0;
  bool sinks = false;
};

// One layer's cache on one backend.
class Layer {
 public:
  Layer(Backend& backend, const Shape& shape, int32_t num_blocks)
      : backend_(backend), shape_(shape) {
    kv_.num_blocks = num_blocks;
    kv_.block_size = shape.block_size;
    kv_.num_kv_heads = shape.kv_heads;
    kv_.head_dim = shape.head_dim;
    kv_.latent = shape.latent;
    kv_.type = shape.type;
    kv_.block_bytes = backend.kv_block_bytes(kv_);
    buffer_ = backend.allocate(static_cast<size_t>(kv_.block_bytes * num_blocks));
    kv_.blocks = buffer_->data();
  }

  // Stores keys and values that depend on the position alone, then attends.
  std::vector<float> step(const Batch& batch) {
    std::vector<float> q, k, v;
    for (int32_t position : batch.positions) {
      const uint32_t seed = static_cast<uint32_t>(position);
      append(q, random_floats(static_cast<size_t>(shape_.heads * shape_.head_dim), seed));
      append(k, random_floats(static_cast<size_t>(shape_.kv_heads * shape_.head_dim), seed + 5000));
      append(v, random_floats(static_cast<size_t>(shape_.kv_heads * shape_.head_dim), seed + 9000));
    }
    const int64_t tokens = batch.num_tokens();
    const Attend attend{.num_heads = shape_.heads,
                        .num_kv_heads = shape_.kv_heads,
                        .head_dim = shape_.head_dim,
                        .scale = 1 / std::sqrt(static_cast<float>(shape_.head_dim)),
                        .softcap = shape_.softcap,
                        .window = shape_.window,
                        .alibi_max = shape_.alibi_max,
                        .alibi_scale = shape_.alibi_scale,
                        .chunk = shape_.chunk,
                        .temperature = shape_.temperature,
                        .temperature_floor = 4};
    const Weight sinks = backend_.load(
        testing::make_weight(*find_format("f32"), 1, shape_.heads, 3, Precision::exact));
    backend_.plan(batch);
    return testing::run(backend_, [&](Ops& ops) {
      ops.store_kv(kv_, view(k, tokens), view(v, tokens), batch);
      return ops.attend(view(q, tokens), kv_, attend, batch, shape_.sinks ? &sinks : nullptr);
    });
  }

 private:
  static void append(std::vector<float>& to, const std::vector<float>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  Backend& backend_;
  Shape shape_;
  KvLayer kv_;
  std::unique_ptr<Buffer> buffer_;
};

class Attention : public ::testing::TestWithParam<Subject> {
 protected:
  std::unique_ptr<Backend> backend_ = GetParam().make();
  std::shared_ptr<Backend> reference_ = make_reference_backend();

  void expect_agreement(const Shape& shape, std::vector<TestBatch::Sequence> sequences,
                        float tolerance = 5e-6F) {
    for (TestBatch::Sequence& s : sequences) s = {0, s.cached + s.tokens};
    const TestBatch batch(sequences, shape.block_size);
    Layer actual(*backend_, shape, batch.num_blocks());
    Layer expected(*reference_, shape, batch.num_blocks());
    expect_near(actual.step(batch.batch()), expected.step(batch.batch()), tolerance);
  }
};

TEST_P(Attention, EqualsTheReferenceForOrdinaryShapes) {
  for (int32_t head_dim : {64, 96, 128, 256}) {
    SCOPED_TRACE(head_dim);
    expect_agreement({.head_dim = head_dim}, {{0, 1}, {0, 33}, {0, 70}});
  }
}

TEST_P(Attention, EqualsTheReferenceForOddShapes) {
  for (int32_t head_dim : {1, 8, 20, 40}) {
    for (int32_t block_size : {1, 3, 8, 24, 48}) {
      SCOPED_TRACE(::testing::Message() << head_dim << " in blocks of " << block_size);
      expect_agreement({.heads = 3, .kv_heads = 3, .head_dim = head_dim, .block_size = block_size},
                       {{0, 50}, {0, 7}});
    }
  }
}

TEST_P(Attention, EqualsTheReferenceForManyHeadsOfOneGroup) {
  expect_agreement({.heads = 71, .kv_heads = 1, .head_dim = 16}, {{0, 20}});
}

TEST_P(Attention, StaysWithinChunks) {
  expect_agreement({.chunk = 8}, {{0, 1}, {0, 33}, {0, 70}});
  expect_agreement({.heads = 2, .head_dim = 20, .block_size = 24, .chunk = 600}, {{0, 1300}});
}

TEST_P(Attention, GrowsHotterWithThePosition) {
  expect_agreement({.temperature = 0.3F}, {{0, 1}, {0, 33}, {0, 70}});
}

TEST_P(Attention, GivesSinksTheirShare) {
  expect_agreement({.sinks = true}, {{0, 1}, {0, 33}});
  expect_agreement({.head_dim = 40, .window = 8, .sinks = true}, {{0, 70}, {0, 9}});
}

TEST_P(Attention, ReadsValuesFromLatentKeys) {
  for (KvType type : {KvType::f32, KvType::f16}) {
    expect_agreement({.heads = 5, .kv_heads = 1, .head_dim = 40, .type = type, .latent = 24},
                     {{0, 1}, {0, 33}});
    expect_agreement({.heads = 20, .kv_heads = 1, .head_dim = 576, .type = type, .latent = 512},
                     {{0, 7}});
  }
}

TEST_P(Attention, EqualsTheReferenceForEveryCacheType) {
  for (KvType type : {KvType::f32, KvType::f16, KvType::bf16}) {
    expect_agreement({.type = type}, {{0, 40}});
  }
}

TEST_P(Attention, EqualsTheReferenceOverLongContexts) {
  expect_agreement({.heads = 2, .kv_heads = 1, .head_dim = 16}, {{0, 1300}});
}

TEST_P(Attention, SeesOnlyItsWindow) {
  for (int32_t window : {1, 5, 64, 700}) {
    SCOPED_TRACE(window);
    expect_agreement({.heads = 2, .kv_heads = 1, .head_dim = 16, .window = window}, {{0, 1100}});
  }
}

TEST_P(Attention, CapsScores) { expect_agreement({.softcap = 2}, {{0, 40}}); }

TEST_P(Attention, BiasesScoresByDistance) {
  for (int32_t heads : {4, 6, 7}) {
    SCOPED_TRACE(heads);
    expect_agreement({.heads = heads, .kv_heads = 1, .head_dim = 16, .alibi_max = 8}, {{0, 600}});
  }
  expect_agreement({.window = 9, .alibi_max = 4, .alibi_scale = 0.25F}, {{0, 40}});
}

TEST_P(Attention, GivesATokenTheSameBitsHoweverItsPromptIsCut) {
  for (int32_t window : {0, 100}) {
    const float alibi_max = window > 0 ? 8 : 0;
    const Shape shape{
        .heads = 6, .kv_heads = 2, .head_dim = 32, .window = window, .alibi_max = alibi_max};
    constexpr int32_t kTokens = 1200;
    const TestBatch whole({{0, kTokens}}, shape.block_size);
    Layer once(*backend_, shape, whole.num_blocks());
    const std::vector<float> expected = once.step(whole.batch());
    Layer chunked(*backend_, shape, whole.num_blocks());
    std::vector<float> actual;
    for (int32_t done = 0, chunk = 1; done < kTokens; done += chunk, chunk = chunk % 211 + 37) {
      chunk = std::min(chunk, kTokens - done);
      // The table must be as long as the whole prompt's, for the same blocks to be used.
      const TestBatch part({{done, chunk}}, shape.block_size,
                           whole.num_blocks() - (done + chunk + 15) / 16);
      const std::vector<float> rows = chunked.step(part.batch());
      actual.insert(actual.end(), rows.begin(), rows.end());
    }
    EXPECT_EQ(actual, expected);
  }
}

TEST_P(Attention, GivesATokenTheSameBitsWhenThreadsShareItsContext) {
  for (int32_t window : {0, 600}) {
    const Shape shape{.heads = 3, .kv_heads = 1, .head_dim = 32, .window = window};
    constexpr int32_t kTokens = 2100;
    const TestBatch whole({{0, kTokens}}, shape.block_size);
    Layer layer(*backend_, shape, whole.num_blocks());
    const std::vector<float> all = layer.step(whole.batch());
    for (int32_t tokens : {1, 3}) {  // a decode, and a short chunk
      const TestBatch last({{kTokens - tokens, tokens}}, shape.block_size);
      const auto begin = all.end() - int64_t{tokens} * shape.heads * shape.head_dim;
      EXPECT_EQ(layer.step(last.batch()), std::vector<float>(begin, all.end()));
    }
  }
}

TEST_P(Attention, GivesATokenTheSameBitsBesideOthers) {
  const Shape shape{.type = KvType::f16};
  const TestBatch alone({{0, 90}}, shape.block_size);
  const TestBatch beside({{0, 33}, {0, 90}, {0, 1}}, shape.block_size);
  Layer lonely(*backend_, shape, alone.num_blocks());
  Layer busy(*backend_, shape, beside.num_blocks());
  const std::vector<float> expected = lonely.step(alone.batch());
  const std::vector<float> all = busy.step(beside.batch());
  const auto begin = all.begin() + 33 * shape.heads * shape.head_dim;
  EXPECT_EQ(std::vector<float>(begin, begin + static_cast<int64_t>(expected.size())), expected);
}

INSTANTIATE_TEST_SUITE_P(Backends, Attention, ::testing::ValuesIn(testing::subjects()),
                         testing::name_of);

}  // namespace
}  // namespace matador
