#include "backends/cpu/arena.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace matador::cpu {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallestChunk = size_t{1} << 20;

size_t aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

AlignedBytes::AlignedBytes(size_t size) : size_(aligned(std::max<size_t>(size, 1))) {
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, size_)));
  if (!data_) throw std::bad_alloc();
}

void AlignedBytes::Free::operator()(std::byte* data) const { std::free(data); }

std::byte* Arena::take(Chunk& chunk, size_t size) {
  for (;;) {
    // The next kept range at or after `next` limits the room.
    auto blocker = std::find_if(chunk.live.begin(), chunk.live.end(),
                                [&](const Live& live) { return live.end > chunk.next; });
    const size_t limit = blocker == chunk.live.end() ? chunk.bytes.size() : blocker->begin;
    if (chunk.next < limit && limit - chunk.next >= size) {
      chunk.next += size;
      return chunk.bytes.data() + chunk.next - size;
    }
    if (blocker == chunk.live.end()) return nullptr;
    chunk.next = blocker->end;
  }
}

std::byte* Arena::allocate(size_t size) {
  size = aligned(std::max<size_t>(size, 1));
  for (Chunk& chunk : chunks_) {
    const size_t next = chunk.next;
    if (std::byte* data = take(chunk, size)) return data;
    chunk.next = next;  // something smaller may still fit
  }
  const size_t largest = chunks_.empty() ? kSmallestChunk : 2 * chunks_.back().bytes.size();
  chunks_.push_back({AlignedBytes(std::max(largest, size)), 0, {}});
  return take(chunks_.back(), size);
}

void Arena::reset() {
  if (chunks_.size() > 1) {
    size_t total = 0;
    for (const Chunk& chunk : chunks_) total += chunk.bytes.size();
    chunks_.clear();
    chunks_.push_back({AlignedBytes(total), 0, {}});
  }
  for (Chunk& chunk : chunks_) {
    chunk.next = 0;
    chunk.live.clear();
  }
}

void Arena::keep(std::span<const Range> ranges) {
  for (Chunk& chunk : chunks_) {
    chunk.next = 0;
    chunk.live.clear();
    for (const Range& range : ranges) {
      const std::byte* base = chunk.bytes.data();
      if (range.data() < base || range.data() >= base + chunk.bytes.size()) continue;
      const size_t begin = static_cast<size_t>(range.data() - base);
      chunk.live.push_back({begin / kAlignment * kAlignment, aligned(begin + range.size())});
    }
    std::sort(chunk.live.begin(), chunk.live.end(),
              [](const Live& a, const Live& b) { return a.begin < b.begin; });
  }
}

}  // namespace matador::cpu
