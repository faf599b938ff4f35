#include "engine/kv_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "counting_model.h"

namespace matador {
namespace {

using ::testing::HasSubstr;

// A block of the model in f16 with 4 tokens a block: 2 (k, v) * 2 bytes * 4 tokens * 8 features.
constexpr uint64_t kBlockBytes = 128;

// A card of 1 MiB, of which something else uses half.
class Card final : public Backend {
 public:
  DeviceInfo info() const override {
    return {.name = "card",
            .memory_total = 1 << 20,
            .memory_free = 1 << 19,
            .own_memory = true,
            .kv_type = KvType::f32};
  }
  Weight load(HostWeight weight) override { return host_->load(std::move(weight)); }
  std::unique_ptr<Buffer> allocate(size_t bytes) override { return host_->allocate(bytes); }
  int64_t kv_block_bytes(const KvLayer& kv) const override { return host_->kv_block_bytes(kv); }
  void copy(void* to, const void* from, size_t bytes) override { host_->copy(to, from, bytes); }
  void plan(const Batch& batch) override { host_->plan(batch); }
  void run(StepKey key, const Program& program) override { host_->run(key, program); }
  std::span<const float> to_host(const Tensor& tensor) override { return host_->to_host(tensor); }

 private:
  std::shared_ptr<Backend> host_ = make_reference_backend();
};

class KvCacheTest : public ::testing::Test {
 protected:
  CountingModel model_{std::make_shared<CountingControl>(), 64};
  std::shared_ptr<Backend> backend_ = make_reference_backend();
  EngineOptions options_{.block_size = 4};
};

TEST_F(KvCacheTest, TakesTheBytesItIsGiven) {
  options_.kv_cache_bytes = 100 * kBlockBytes + 5;
  auto cache = KvCache::create(model_, *backend_, options_);
  ASSERT_TRUE(cache.ok());
  EXPECT_EQ(cache->num_blocks(), 100);
  EXPECT_EQ(cache->max_model_len(), 64);
  EXPECT_EQ(cache->layers().layers[0].num_blocks, 100);
  EXPECT_NE(cache->layers().layers[0].blocks, nullptr);
}

TEST_F(KvCacheTest, TheModelsOwnLengthIsReducedToWhatFits) {
  options_.kv_cache_bytes = 5 * kBlockBytes;
  auto cache = KvCache::create(model_, *backend_, options_);
  ASSERT_TRUE(cache.ok());
  EXPECT_EQ(cache->max_model_len(), 20);
}

TEST_F(KvCacheTest, ALengthThatWasAskedForIsRefusedWithTheArithmetic) {
  options_.kv_cache_bytes = 5 * kBlockBytes;
  options_.max_model_len = 40;
  auto cache = KvCache::create(model_, *backend_, options_);
  ASSERT_FALSE(cache.ok());
  EXPECT_EQ(cache.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(cache.error().message, HasSubstr("40 tokens needs 10 cache blocks of 128 bytes"));
  EXPECT_THAT(cache.error().message, HasSubstr("5 blocks"));
}

TEST_F(KvCacheTest, ALengthBeyondTheModelsIsRefused) {
  options_.max_model_len = 65;
  options_.kv_cache_bytes = 1 << 20;
  auto cache = KvCache::create(model_, *backend_, options_);
  ASSERT_FALSE(cache.ok());
  EXPECT_EQ(cache.error().code, ErrorCode::invalid_argument);
}

TEST_F(KvCacheTest, WithoutBytesItHoldsTheLongestSequenceTwiceWithinFreeMemory) {
  std::shared_ptr<Backend> cpu = make_cpu_backend({.threads = 1, .isa = {}});
  options_.max_num_seqs = 2;
  CountingModel small(std::make_shared<CountingControl>(), 5000);
  auto cache = KvCache::create(small, *cpu, options_);
  ASSERT_TRUE(cache.ok());
  EXPECT_EQ(cache->max_model_len(), 5000);
  EXPECT_EQ(cache->num_blocks(), 2 * 1250);
}

TEST_F(KvCacheTest, TakesWhatItsShareOfACardLeavesBesideTheWeightsInTheCardsType) {
  Card card;
  options_.gpu_memory_utilization = 0.75;
  auto cache = KvCache::create(model_, card, options_);
  ASSERT_TRUE(cache.ok());
  EXPECT_EQ(cache->layers().layers[0].type, KvType::f32);
  EXPECT_EQ(cache->num_blocks(), (1 << 18) / (2 * kBlockBytes));
}

TEST_F(KvCacheTest, ACardThatItsWeightsFillIsRefusedWithTheArithmetic) {
  Card card;
  options_.gpu_memory_utilization = 0.25;
  auto cache = KvCache::create(model_, card, options_);
  ASSERT_FALSE(cache.ok());
  EXPECT_EQ(cache.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(cache.error().message, HasSubstr("card has 1.0 MiB"));
  EXPECT_THAT(cache.error().message, HasSubstr("0.25 allows 0.2 MiB"));
  EXPECT_THAT(cache.error().message, HasSubstr("use 0.5 MiB"));
}

}  // namespace
}  // namespace matador
