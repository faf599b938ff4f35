// BlockPool: who holds which block of the paged cache, and which blocks' content is reusable.
//
// A block stores the state of `block_size` consecutive tokens of every layer. The pool knows
// numbers only: the bytes belong to the Runner, their meaning to the model.
//
//  - A block is held by any number of tables. Writing to one with several holders first replaces
//    it by a copy (copy-on-write).
//  - A full block may be published: a table whose tokens begin the same way can then adopt it. The
//    cache is a chain: a block's key is its parent's identity, its tokens, the salt (first block)
//    and the length class; a hash finds candidates and equality decides, so that no collision can
//    ever hand one request another's state.
//  - A block that nobody holds is free. Unpublished ones are reused first, then published ones,
//    the longest unused first, and of a sequence its last block first.
//
// Paged attention: arXiv 2309.06180. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/result.h"

namespace matador {

// The blocks of one sequence, in order of position.
struct BlockTable {
  std::vector<int32_t> blocks;
  int32_t num_published = 0;  // leading blocks that the prefix cache knows
  uint64_t chain = 0;         // identity of the prefix they hold; 0: the empty prefix
};

// The content that blocks are looked up by.
struct PrefixKey {
  std::span<const int32_t> tokens;
  std::string_view salt;
  int32_t length_class = 0;
};

// Before the step's program runs, in order: block `to` becomes a copy of block `from`.
struct BlockCopy {
  int32_t from = 0, to = 0;
};

class BlockPool {
 public:
  BlockPool(int32_t num_blocks, int32_t block_size, bool caching);

  int32_t block_size() const { return block_size_; }
  int32_t num_blocks() const { return static_cast<int32_t>(blocks_.size()) - 1; }
  int32_t num_free() const { return num_free_; }  // published ones included
  int32_t blocks_for(int32_t tokens) const { return (tokens + block_size_ - 1) / block_size_; }

  // Tokens of the longest published prefix of `key`, and how many of its blocks are free now.
  struct Match {
    int32_t tokens = 0;
    int32_t free_blocks = 0;
  };
  Match match(const PrefixKey& key) const;
  // Gives an empty table the first `tokens` (a match's count, or less in whole blocks) of `key`.
  void adopt(const PrefixKey& key, int32_t tokens, BlockTable& table);
  // Gives an empty table the blocks of the first `tokens` of another.
  void share(const BlockTable& from, int32_t tokens, BlockTable& to);
  // Makes positions [begin, end) writable: appends blocks, replaces shared ones by copies, and the
  // prefix cache forgets the others. False, and nothing changed, when too few blocks are free.
  bool reserve(BlockTable& table, int32_t begin, int32_t end, std::vector<BlockCopy>& copies);
  // Makes the table's full blocks, of which `computed` tokens are stored, known to the cache.
  void publish(BlockTable& table, const PrefixKey& key, int32_t computed);
  void release(BlockTable& table);

  // Recounts everything, given every table there is.
  Status check_integrity(std::span<const BlockTable* const> tables) const;

 private:
  struct Block {
    int32_t holders = 0;
    int32_t previous = 0, next = 0;  // in the list of free blocks
    uint64_t identity = 0;           // of the prefix this block ends; 0: not published
    uint64_t parent = 0;             // identity of the prefix before it
    uint64_t hash = 0;
    int32_t length_class = 0;
    std::string salt;  // of first blocks
  };

  std::span<const int32_t> tokens_of(int32_t block) const;
  PrefixKey part(const PrefixKey& key, int32_t index) const;
  int32_t find(const PrefixKey& part, uint64_t parent) const;  // -1: none
  void enter(int32_t block, const PrefixKey& part, uint64_t parent);
  void hold(int32_t block);
  int32_t take_free();
  void withdraw(int32_t block);  // from the prefix cache
  void unlink(int32_t block);
  void link(int32_t block, int32_t before);

  int32_t block_size_;
  bool caching_;
  int32_t num_free_ = 0;
  uint64_t last_identity_ = 0;
  std::vector<Block> blocks_;    // the one past the last block is the free list's sentinel
  std::vector<int32_t> tokens_;  // [num_blocks, block_size], of published blocks
  std::unordered_map<uint64_t, int32_t> published_;  // hash -> block
};

}  // namespace matador
