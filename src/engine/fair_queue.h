// FairQueue: the sequences that wait, and who comes next: the lowest priority value; among equals,
// the tenant that has had the fewest tokens for its weight; among a tenant's own, the earliest.
//
// So a tenant that floods the engine delays itself. A tenant that comes back from idleness starts
// level with those that wait: what it did not use is not saved up. The virtual token counter of
// arXiv 2401.00588; a token is counted when it is computed, so cached prompts are free. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "engine/sequence.h"

namespace matador {

// By priority, then arrival.
struct SequenceOrder {
  bool operator()(const Sequence* a, const Sequence* b) const;
};

class FairQueue {
 public:
  void insert(Sequence& sequence);
  bool erase(Sequence& sequence);  // false: it does not wait
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // Of a queue that is not empty.
  Sequence& front() const;

  // Tokens of this request are computed.
  void charge(const Request& request, int64_t tokens);

 private:
  using Line = std::set<Sequence*, SequenceOrder>;  // of one tenant; never empty

  std::map<int64_t, std::map<std::string, Line>> lines_;  // by priority, then tenant
  std::map<std::string, double> counters_;                // tokens by weight, of each tenant
  size_t size_ = 0;
};

}  // namespace matador
