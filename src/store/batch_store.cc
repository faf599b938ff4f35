#include "store/batch_store.h"

#include <array>
#include <ctime>

#include "core/random_id.h"

namespace matador {
namespace {

constexpr std::array<std::string_view, kNumBatchStatuses> kNames = {
    "validating", "failed",  "in_progress", "finalizing",
    "completed",  "expired", "cancelling",  "cancelled"};

constexpr char kTables[] =
    "CREATE TABLE IF NOT EXISTS batches (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " id TEXT UNIQUE NOT NULL, owner TEXT NOT NULL, input_file_id TEXT NOT NULL,"
    " endpoint TEXT NOT NULL, completion_window TEXT NOT NULL, status INTEGER NOT NULL,"
    " created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,"
    " output_file_id TEXT NOT NULL DEFAULT '', error_file_id TEXT NOT NULL DEFAULT '',"
    " metadata TEXT NOT NULL, errors TEXT NOT NULL DEFAULT '', total INTEGER NOT NULL DEFAULT 0,"
    " completed INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE IF NOT EXISTS batch_times (batch TEXT NOT NULL, status INTEGER NOT NULL,"
    " time INTEGER NOT NULL, PRIMARY KEY (batch, status)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS batch_lines (batch TEXT NOT NULL, line INTEGER NOT NULL,"
    " custom_id TEXT NOT NULL, offset INTEGER NOT NULL, size INTEGER NOT NULL, ok INTEGER,"
    " answer TEXT, PRIMARY KEY (batch, line)) WITHOUT ROWID;";

constexpr char kColumns[] =
    "id, owner, input_file_id, endpoint, completion_window, status, created_at, expires_at,"
    " output_file_id, error_file_id, metadata, errors, total, completed, failed";
constexpr char kEnded[] = "status IN (1, 4, 5, 7)";
static_assert(static_cast<int>(BatchStatus::failed) == 1 &&
              static_cast<int>(BatchStatus::completed) == 4 &&
              static_cast<int>(BatchStatus::expired) == 5 &&
              static_cast<int>(BatchStatus::cancelled) == 7);

int64_t number(BatchStatus status) { return static_cast<int64_t>(status); }

BatchJob read_row(Database& database, const Statement& row) {
  BatchJob batch{.id = row.text(0),
                 .owner = row.text(1),
                 .input_file_id = row.text(2),
                 .endpoint = row.text(3),
                 .completion_window = row.text(4),
                 .status = static_cast<BatchStatus>(row.integer(5)),
                 .created_at = row.integer(6),
                 .expires_at = row.integer(7),
                 .output_file_id = row.text(8),
                 .error_file_id = row.text(9),
                 .metadata = row.text(10),
                 .errors = row.text(11),
                 .total = row.integer(12),
                 .completed = row.integer(13),
                 .failed = row.integer(14)};
  Statement time(database, "SELECT status, time FROM batch_times WHERE batch = ?");
  time.bind(batch.id);
  while (time.step()) batch.reached[static_cast<BatchStatus>(time.integer(0))] = time.integer(1);
  return batch;
}

std::string select(const std::string& rest) {
  return std::string("SELECT ") + kColumns + " FROM batches WHERE " + rest;
}

}  // namespace

std::string_view name_of(BatchStatus status) { return kNames[static_cast<size_t>(status)]; }

BatchStore::BatchStore(Database& database, FileStore& files) : database_(database), files_(files) {
  database_.execute(kTables);
}

BatchJob BatchStore::create(BatchJob batch, int64_t seconds_to_expiry) {
  batch.id = random_id("batch_");
  batch.created_at = std::time(nullptr);
  batch.expires_at = batch.created_at + seconds_to_expiry;
  std::lock_guard lock(database_.mutex());
  Statement(database_,
            "INSERT INTO batches (id, owner, input_file_id, endpoint, completion_window, status,"
            " created_at, expires_at, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(batch.id, batch.owner, batch.input_file_id, batch.endpoint, batch.completion_window,
            number(batch.status), batch.created_at, batch.expires_at, batch.metadata)
      .run();
  return batch;
}

std::optional<BatchJob> BatchStore::find(std::string_view owner, std::string_view id) const {
  std::lock_guard lock(database_.mutex());
  Statement row(database_, select("owner = ? AND id = ?"));
  if (!row.bind(owner, id).step()) return std::nullopt;
  return read_row(database_, row);
}

Page<BatchJob> BatchStore::list(std::string_view owner, const PageRequest& page) const {
  std::lock_guard lock(database_.mutex());
  Statement row(database_,
                select("owner = ? AND (? = '' OR seq < (SELECT seq FROM batches WHERE id = ?))"
                       " ORDER BY seq DESC LIMIT ?"));
  row.bind(owner, page.after, page.after, page.limit + 1);
  Page<BatchJob> found;
  while (row.step()) found.items.push_back(read_row(database_, row));
  found.has_more = static_cast<int64_t>(found.items.size()) > page.limit;
  if (found.has_more) found.items.pop_back();
  return found;
}

bool BatchStore::cancel(std::string_view owner, std::string_view id) {
  Transaction transaction(database_);
  Statement row(database_, "SELECT status FROM batches WHERE owner = ? AND id = ?");
  if (!row.bind(owner, id).step()) return false;
  auto status = static_cast<BatchStatus>(row.integer(0));
  if (status == BatchStatus::cancelling) return true;
  if (status != BatchStatus::validating && status != BatchStatus::in_progress) return false;
  move(id, BatchStatus::cancelling);
  transaction.commit();
  return true;
}

bool BatchStore::uses(std::string_view input_file_id) const {
  std::lock_guard lock(database_.mutex());
  Statement row(database_,
                std::string("SELECT 1 FROM batches WHERE input_file_id = ? AND NOT ") + kEnded);
  return row.bind(input_file_id).step();
}

std::optional<BatchJob> BatchStore::next() const {
  std::lock_guard lock(database_.mutex());
  Statement row(database_, select(std::string("NOT ") + kEnded + " ORDER BY seq LIMIT 1"));
  if (!row.step()) return std::nullopt;
  return read_row(database_, row);
}

std::optional<BatchStatus> BatchStore::status(std::string_view id) const {
  std::lock_guard lock(database_.mutex());
  Statement row(database_, "SELECT status FROM batches WHERE id = ?");
  if (!row.bind(id).step()) return std::nullopt;
  return static_cast<BatchStatus>(row.integer(0));
}

void BatchStore::fail(std::string_view id, std::string_view errors) {
  Transaction transaction(database_);
  Statement(database_, "UPDATE batches SET errors = ? WHERE id = ?").bind(errors, id).run();
  move(id, BatchStatus::failed);
  transaction.commit();
}

void BatchStore::begin(std::string_view id, const std::vector<BatchLine>& lines) {
  Transaction transaction(database_);
  Statement row(database_, "SELECT 1 FROM batches WHERE id = ? AND status = ?");
  if (!row.bind(id, number(BatchStatus::validating)).step()) return;  // cancelled meanwhile
  Statement insert(database_,
                   "INSERT INTO batch_lines (batch, line, custom_id, offset, size)"
                   " VALUES (?, ?, ?, ?, ?)");
  for (const BatchLine& line : lines)
    insert.bind(id, line.number, line.custom_id, line.offset, line.size).run();
  Statement(database_, "UPDATE batches SET total = ? WHERE id = ?").bind(lines.size(), id).run();
  move(id, BatchStatus::in_progress);
  transaction.commit();
}

std::vector<BatchLine> BatchStore::unanswered(std::string_view id, int64_t after,
                                              int64_t limit) const {
  std::lock_guard lock(database_.mutex());
  Statement row(database_,
                "SELECT line, custom_id, offset, size FROM batch_lines"
                " WHERE batch = ? AND line > ? AND ok IS NULL ORDER BY line LIMIT ?");
  row.bind(id, after, limit);
  std::vector<BatchLine> lines;
  while (row.step()) lines.push_back({row.integer(0), row.text(1), row.integer(2), row.integer(3)});
  return lines;
}

void BatchStore::record(std::string_view id, const std::vector<BatchAnswer>& answers) {
  Transaction transaction(database_);
  Statement update(database_,
                   "UPDATE batch_lines SET ok = ?, answer = ?"
                   " WHERE batch = ? AND line = ? AND ok IS NULL");
  Statement count(database_,
                  "UPDATE batches SET completed = completed + ?, failed = failed + ? WHERE id = ?");
  for (const BatchAnswer& answer : answers) {
    int64_t ok = answer.ok ? 1 : 0;
    if (update.bind(ok, answer.text, id, answer.line).run() == 1) count.bind(ok, 1 - ok, id).run();
  }
  transaction.commit();
}

void BatchStore::for_each_answer(std::string_view id, bool ok,
                                 const std::function<void(std::string_view)>& use) const {
  std::lock_guard lock(database_.mutex());
  Statement row(database_,
                "SELECT answer FROM batch_lines WHERE batch = ? AND ok = ? ORDER BY line");
  row.bind(id, ok ? 1 : 0);
  while (row.step()) use(row.text(0));
}

bool BatchStore::finalize(std::string_view id) {
  Transaction transaction(database_);
  Statement row(database_, "SELECT 1 FROM batches WHERE id = ? AND status = ?");
  if (!row.bind(id, number(BatchStatus::in_progress)).step()) return false;
  move(id, BatchStatus::finalizing);
  transaction.commit();
  return true;
}

void BatchStore::finish(std::string_view id, BatchStatus end, const Files& files) {
  Transaction transaction(database_);
  for (const auto* file : {&files.output, &files.errors})
    if (*file) files_.insert(**file);
  Statement(database_, "UPDATE batches SET output_file_id = ?, error_file_id = ? WHERE id = ?")
      .bind(files.output ? files.output->id : "", files.errors ? files.errors->id : "", id)
      .run();
  Statement(database_, "DELETE FROM batch_lines WHERE batch = ?").bind(id).run();
  move(id, end);
  transaction.commit();
}

void BatchStore::move(std::string_view id, BatchStatus to) {
  Statement(database_, "UPDATE batches SET status = ? WHERE id = ?").bind(number(to), id).run();
  Statement(database_, "INSERT OR REPLACE INTO batch_times (batch, status, time) VALUES (?, ?, ?)")
      .bind(id, number(to), std::time(nullptr))
      .run();
}

}  // namespace matador
