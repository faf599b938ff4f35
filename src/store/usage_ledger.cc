#include "store/usage_ledger.h"

#include <ctime>

namespace matador {

UsageLedger::UsageLedger(Database& database) : database_(database) {
  database_.execute(
      "CREATE TABLE IF NOT EXISTS usage (start_time INTEGER NOT NULL, owner TEXT NOT NULL,"
      " model TEXT NOT NULL, num_requests INTEGER NOT NULL, input_tokens INTEGER NOT NULL,"
      " cached_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,"
      " PRIMARY KEY (start_time, owner, model)) WITHOUT ROWID");
}

void UsageLedger::add(const UsageRecord& used) {
  constexpr int64_t kHour = 3600;
  int64_t now = std::time(nullptr);
  std::lock_guard lock(database_.mutex());
  Statement(database_,
            "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " num_requests = num_requests + excluded.num_requests,"
            " input_tokens = input_tokens + excluded.input_tokens,"
            " cached_tokens = cached_tokens + excluded.cached_tokens,"
            " output_tokens = output_tokens + excluded.output_tokens")
      .bind(now - now % kHour, used.owner, used.model, used.num_requests, used.input_tokens,
            used.cached_tokens, used.output_tokens)
      .run();
}

std::vector<UsageRecord> UsageLedger::between(int64_t start, int64_t end,
                                              const std::string* owner) const {
  std::lock_guard lock(database_.mutex());
  Statement row(database_,
                "SELECT owner, model, start_time, num_requests, input_tokens, cached_tokens,"
                " output_tokens FROM usage WHERE start_time >= ? AND start_time < ?"
                " AND (? OR owner = ?) ORDER BY start_time, owner, model");
  row.bind(start, end, owner ? 0 : 1, owner ? *owner : std::string());
  std::vector<UsageRecord> records;
  while (row.step())
    records.push_back({row.text(0), row.text(1), row.integer(2), row.integer(3), row.integer(4),
                       row.integer(5), row.integer(6)});
  return records;
}

}  // namespace matador
