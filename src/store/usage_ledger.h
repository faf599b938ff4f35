// UsageLedger: what each key has used, by the hour. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"

namespace matador {

struct UsageRecord {
  std::string owner;       // the key's name; "" where no keys are asked for
  std::string model;       // as the server shows it
  int64_t start_time = 0;  // Unix seconds, a whole hour
  int64_t num_requests = 0;
  int64_t input_tokens = 0;  // of prompts; cached ones included
  int64_t cached_tokens = 0;
  int64_t output_tokens = 0;
};

class UsageLedger {
 public:
  explicit UsageLedger(Database& database);

  // Adds to the record of `used.owner`, `used.model` and the hour now.
  void add(const UsageRecord& used);
  // Of hours that begin within [start, end), oldest first; `owner` null: of all.
  std::vector<UsageRecord> between(int64_t start, int64_t end,
                                   const std::string* owner = nullptr) const;

 private:
  Database& database_;
};

}  // namespace matador
