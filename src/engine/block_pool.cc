#include "engine/block_pool.h"

#include <algorithm>
#include <functional>

namespace matador {

namespace {

// The finaliser of splitmix64.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

uint64_t hash_of(const PrefixKey& part, uint64_t parent) {
  uint64_t hash = mix(parent + 0x9E3779B97F4A7C15U);
  hash = mix(hash ^ static_cast<uint32_t>(part.length_class));
  hash = mix(hash ^ std::hash<std::string_view>()(part.salt));
  for (int32_t token : part.tokens) hash = mix(hash ^ static_cast<uint32_t>(token)) + hash;
  return hash;
}

Error broken(const std::string& what, int64_t block) {
  return {ErrorCode::internal, "block " + std::to_string(block) + ": " + what};
}

}  // namespace

BlockPool::BlockPool(int32_t num_blocks, int32_t block_size, bool caching)
    : block_size_(block_size),
      caching_(caching),
      blocks_(static_cast<size_t>(num_blocks) + 1),
      tokens_(caching ? static_cast<size_t>(num_blocks) * block_size : 0) {
  CHECK(num_blocks > 0 && block_size > 0);
  blocks_[num_blocks].previous = blocks_[num_blocks].next = num_blocks;
  for (int32_t block = 0; block < num_blocks; ++block) link(block, num_blocks);
}

std::span<const int32_t> BlockPool::tokens_of(int32_t block) const {
  return std::span(tokens_).subspan(static_cast<size_t>(block) * block_size_, block_size_);
}

// The key of one block of a prefix: only the first carries the salt, the others inherit it.
PrefixKey BlockPool::part(const PrefixKey& key, int32_t index) const {
  auto tokens = key.tokens.subspan(static_cast<size_t>(index) * block_size_, block_size_);
  return {tokens, index == 0 ? key.salt : std::string_view(), key.length_class};
}

int32_t BlockPool::find(const PrefixKey& part, uint64_t parent) const {
  auto entry = published_.find(hash_of(part, parent));
  if (entry == published_.end()) return -1;
  const Block& block = blocks_[entry->second];
  bool same = block.parent == parent && block.length_class == part.length_class &&
              block.salt == part.salt && std::ranges::equal(tokens_of(entry->second), part.tokens);
  return same ? entry->second : -1;
}

BlockPool::Match BlockPool::match(const PrefixKey& key) const {
  Match match;
  if (!caching_) return match;
  uint64_t parent = 0;
  int32_t whole = static_cast<int32_t>(key.tokens.size()) / block_size_;
  for (int32_t index = 0; index < whole; ++index) {
    int32_t block = find(part(key, index), parent);
    if (block < 0) break;
    parent = blocks_[block].identity;
    match.tokens += block_size_;
    match.free_blocks += blocks_[block].holders == 0;
  }
  return match;
}

void BlockPool::adopt(const PrefixKey& key, int32_t tokens, BlockTable& table) {
  CHECK(table.blocks.empty());
  for (int32_t index = 0; index < tokens / block_size_; ++index) {
    int32_t block = find(part(key, index), table.chain);
    CHECK(block >= 0) << "adopts more than the cache holds";
    hold(block);
    table.blocks.push_back(block);
    table.chain = blocks_[block].identity;
    ++table.num_published;
  }
}

void BlockPool::share(const BlockTable& from, int32_t tokens, BlockTable& to) {
  CHECK(to.blocks.empty());
  int32_t count = blocks_for(tokens);
  to.blocks.assign(from.blocks.begin(), from.blocks.begin() + count);
  for (int32_t block : to.blocks) hold(block);
  if (from.num_published <= count) {
    to.num_published = from.num_published;
    to.chain = from.chain;
  }
}

bool BlockPool::reserve(BlockTable& table, int32_t begin, int32_t end,
                        std::vector<BlockCopy>& copies) {
  auto size = static_cast<int32_t>(table.blocks.size());
  int32_t needed = blocks_for(end);
  int32_t missing = std::max(0, needed - size);
  for (int32_t i = begin / block_size_; i < std::min(size, needed); ++i) {
    missing += blocks_[table.blocks[i]].holders > 1;
  }
  if (missing > num_free_) return false;
  for (int32_t i = begin / block_size_; i < std::min(size, needed); ++i) {
    int32_t shared = table.blocks[i];
    if (blocks_[shared].holders == 1) {
      withdraw(shared);
      continue;
    }
    table.blocks[i] = take_free();
    --blocks_[shared].holders;
    copies.push_back({shared, table.blocks[i]});
  }
  for (int32_t i = size; i < needed; ++i) table.blocks.push_back(take_free());
  return true;
}

void BlockPool::publish(BlockTable& table, const PrefixKey& key, int32_t computed) {
  if (!caching_) return;
  for (int32_t& index = table.num_published; (index + 1) * block_size_ <= computed; ++index) {
    PrefixKey content = part(key, index);
    int32_t known = find(content, table.chain);
    if (known < 0) {
      known = table.blocks[index];
      // Not entered when another block has the same hash, or when this one is known by other
      // content (a table that was shared after its donor published more).
      if (published_.contains(hash_of(content, table.chain)) || blocks_[known].identity != 0)
        return;
      enter(known, content, table.chain);
    }
    table.chain = blocks_[known].identity;
  }
}

void BlockPool::enter(int32_t index, const PrefixKey& part, uint64_t parent) {
  Block& block = blocks_[index];
  block.identity = ++last_identity_;
  block.parent = parent;
  block.hash = hash_of(part, parent);
  block.length_class = part.length_class;
  block.salt = part.salt;
  std::ranges::copy(part.tokens, tokens_.begin() + static_cast<int64_t>(index) * block_size_);
  published_.emplace(block.hash, index);
}

// From the last block to the first, so that the beginning of a prompt outlives its end.
void BlockPool::release(BlockTable& table) {
  for (size_t i = table.blocks.size(); i-- > 0;) {
    int32_t index = table.blocks[i];
    CHECK(blocks_[index].holders > 0);
    if (--blocks_[index].holders > 0) continue;
    bool reusable = blocks_[index].identity != 0;
    link(index, reusable ? num_blocks() : blocks_[num_blocks()].next);
  }
  table = {};
}

void BlockPool::hold(int32_t block) {
  if (blocks_[block].holders++ == 0) unlink(block);
}

int32_t BlockPool::take_free() {
  int32_t index = blocks_[num_blocks()].next;
  CHECK(index != num_blocks()) << "no free block";
  unlink(index);
  withdraw(index);
  blocks_[index].holders = 1;
  return index;
}

void BlockPool::withdraw(int32_t index) {
  Block& block = blocks_[index];
  if (block.identity == 0) return;
  published_.erase(block.hash);
  block.identity = 0;
  block.salt.clear();
}

void BlockPool::unlink(int32_t block) {
  blocks_[blocks_[block].previous].next = blocks_[block].next;
  blocks_[blocks_[block].next].previous = blocks_[block].previous;
  --num_free_;
}

void BlockPool::link(int32_t block, int32_t before) {
  int32_t after = blocks_[before].previous;
  blocks_[block].previous = after;
  blocks_[block].next = before;
  blocks_[after].next = blocks_[before].previous = block;
  ++num_free_;
}

Status BlockPool::check_integrity(std::span<const BlockTable* const> tables) const {
  std::vector<int32_t> holders(num_blocks(), 0);
  for (const BlockTable* table : tables) {
    for (int32_t block : table->blocks) ++holders.at(block);
  }
  std::vector<bool> listed(num_blocks(), false);
  int32_t num_listed = 0;
  for (int32_t b = blocks_[num_blocks()].next; b != num_blocks(); b = blocks_[b].next) {
    if (listed[b]) return broken("twice in the free list", b);
    listed[b] = true;
    ++num_listed;
  }
  if (num_listed != num_free_) return broken("the free list's length is wrong", num_listed);
  size_t num_known = 0;
  for (int32_t b = 0; b < num_blocks(); ++b) {
    const Block& block = blocks_[b];
    if (block.holders != holders[b]) {
      return broken(std::to_string(block.holders) + " holders counted, " +
                        std::to_string(holders[b]) + " exist",
                    b);
    }
    if (listed[b] != (block.holders == 0)) return broken("held and free, or neither", b);
    if (block.identity == 0) continue;
    ++num_known;
    auto entry = published_.find(block.hash);
    if (entry == published_.end() || entry->second != b) return broken("published but unknown", b);
  }
  if (num_known != published_.size()) return broken("unknown but published", -1);
  return {};
}

}  // namespace matador
