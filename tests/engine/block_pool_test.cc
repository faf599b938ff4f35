#include "engine/block_pool.h"

#include <gtest/gtest.h>

#include <numeric>

namespace matador {
namespace {

using Tokens = std::vector<int32_t>;
using Blocks = std::vector<int32_t>;

Tokens count_up(int32_t size, int32_t first = 0) {
  Tokens tokens(size);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

class BlockPoolTest : public ::testing::Test {
 protected:
  BlockPool pool_{8, 4, true};
  std::vector<BlockCopy> copies_;

  // A table whose tokens are computed and published.
  BlockTable computed(const Tokens& tokens, std::string_view salt = "", int32_t length_class = 0) {
    BlockTable table;
    auto size = static_cast<int32_t>(tokens.size());
    EXPECT_TRUE(pool_.reserve(table, 0, size, copies_));
    pool_.publish(table, {tokens, salt, length_class}, size);
    return table;
  }
  void expect_integrity(std::vector<const BlockTable*> tables) {
    Status status = pool_.check_integrity(tables);
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
};

TEST_F(BlockPoolTest, ReturnsTheSamePrefixToTwoSequences) {
  Tokens tokens = count_up(11);
  BlockTable first = computed(tokens);
  PrefixKey key{tokens, "", 0};
  EXPECT_EQ(pool_.match(key).tokens, 8);
  BlockTable second;
  pool_.adopt(key, 8, second);
  EXPECT_EQ(second.blocks, (Blocks{first.blocks[0], first.blocks[1]}));
  EXPECT_EQ(pool_.num_free(), 5);
  expect_integrity({&first, &second});
  pool_.release(first);
  pool_.release(second);
  EXPECT_EQ(pool_.num_free(), 8);
  EXPECT_EQ(pool_.match(key).tokens, 8) << "free blocks keep their content";
  EXPECT_EQ(pool_.match(key).free_blocks, 2);
  expect_integrity({});
}

TEST_F(BlockPoolTest, SaltClassAndEveryEarlierTokenSeparatePrefixes) {
  Tokens tokens = count_up(8);
  BlockTable table = computed(tokens, "tenant", 1);
  EXPECT_EQ(pool_.match({tokens, "tenant", 1}).tokens, 8);
  EXPECT_EQ(pool_.match({tokens, "", 1}).tokens, 0);
  EXPECT_EQ(pool_.match({tokens, "tenant", 0}).tokens, 0);
  Tokens other = tokens;
  other[0] = 99;
  EXPECT_EQ(pool_.match({other, "tenant", 1}).tokens, 0);
  other = tokens;
  other[7] = 99;
  EXPECT_EQ(pool_.match({other, "tenant", 1}).tokens, 4);
  // The same tokens after another beginning are another prefix.
  EXPECT_EQ(pool_.match({std::span(tokens).subspan(4), "tenant", 1}).tokens, 0);
}

TEST_F(BlockPoolTest, WritingASharedBlockCopiesItOnce) {
  BlockTable parent = computed(count_up(6)), child;
  pool_.share(parent, 6, child);
  ASSERT_TRUE(pool_.reserve(child, 6, 7, copies_));
  ASSERT_EQ(copies_.size(), 1U);
  EXPECT_EQ(copies_[0].from, parent.blocks[1]);
  EXPECT_EQ(copies_[0].to, child.blocks[1]);
  EXPECT_EQ(child.blocks[0], parent.blocks[0]);
  ASSERT_TRUE(pool_.reserve(parent, 6, 7, copies_));
  EXPECT_EQ(copies_.size(), 1U) << "the last holder writes in place";
  expect_integrity({&parent, &child});
}

TEST_F(BlockPoolTest, TheCacheForgetsABlockThatIsWritten) {
  const Tokens tokens = count_up(8);
  BlockTable table = computed(tokens);
  ASSERT_EQ(pool_.match({tokens, "", 0}).tokens, 8);
  ASSERT_TRUE(pool_.reserve(table, 6, 8, copies_));
  EXPECT_TRUE(copies_.empty());
  EXPECT_EQ(pool_.match({tokens, "", 0}).tokens, 4);
  expect_integrity({&table});
}

TEST_F(BlockPoolTest, AReserveThatFailsChangesNothing) {
  BlockTable big = computed(count_up(24)), child;
  pool_.share(big, 22, child);
  Blocks before = child.blocks;
  EXPECT_FALSE(pool_.reserve(child, 22, 32, copies_)) << "a copy and two more, of two free";
  EXPECT_EQ(child.blocks, before);
  EXPECT_TRUE(copies_.empty());
  EXPECT_EQ(pool_.num_free(), 2);
  EXPECT_TRUE(pool_.reserve(child, 22, 28, copies_));
  EXPECT_EQ(pool_.num_free(), 0);
  expect_integrity({&big, &child});
}

TEST_F(BlockPoolTest, UnpublishedBlocksAreReusedFirstThenTheLongestUnused) {
  Tokens old_tokens = count_up(8), new_tokens = count_up(8, 50);
  BlockTable old_table = computed(old_tokens), new_table = computed(new_tokens), rest;
  pool_.release(old_table);
  pool_.release(new_table);
  ASSERT_TRUE(pool_.reserve(rest, 0, 16, copies_));  // the four that were never used
  EXPECT_EQ(pool_.match({old_tokens, "", 0}).tokens, 8);
  ASSERT_TRUE(pool_.reserve(rest, 16, 20, copies_));
  EXPECT_EQ(pool_.match({old_tokens, "", 0}).tokens, 4) << "its end goes before its beginning";
  ASSERT_TRUE(pool_.reserve(rest, 20, 24, copies_));
  EXPECT_EQ(pool_.match({old_tokens, "", 0}).tokens, 0);
  EXPECT_EQ(pool_.match({new_tokens, "", 0}).tokens, 8);
  expect_integrity({&rest});
}

TEST_F(BlockPoolTest, EqualContentComputedTwiceIsPublishedOnce) {
  Tokens tokens = count_up(8);
  BlockTable first = computed(tokens), second = computed(tokens);
  EXPECT_NE(first.blocks, second.blocks);
  EXPECT_EQ(first.chain, second.chain);
  expect_integrity({&first, &second});
  pool_.release(first);
  pool_.release(second);
  EXPECT_EQ(pool_.match({tokens, "", 0}).free_blocks, 2);
  expect_integrity({});
}

TEST_F(BlockPoolTest, WithoutCachingNothingMatches) {
  BlockPool plain(4, 4, false);
  Tokens tokens = count_up(8);
  BlockTable table;
  ASSERT_TRUE(plain.reserve(table, 0, 8, copies_));
  plain.publish(table, {tokens, "", 0}, 8);
  EXPECT_EQ(plain.match({tokens, "", 0}).tokens, 0);
}

TEST_F(BlockPoolTest, IntegrityNoticesALeak) {
  BlockTable table = computed(count_up(4));
  EXPECT_FALSE(pool_.check_integrity({}).ok());
  expect_integrity({&table});
}

}  // namespace
}  // namespace matador
