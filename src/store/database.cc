#include "store/database.h"

#include <sqlite3.h>

namespace matador {
namespace {

[[noreturn]] void fail(sqlite3* handle, const std::string& what) {
  throw StoreFault(what + ": " + (handle ? sqlite3_errmsg(handle) : "out of memory"));
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close(handle); }
void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(const std::string& path) {
  sqlite3* handle = nullptr;
  int code = sqlite3_open(path.c_str(), &handle);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(handle, path);
  constexpr int kBusyMilliseconds = 5000;
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;");
}

void Database::execute(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    fail(handle_.get(), "the store's database");
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &statement,
                           nullptr));
  statement_.reset(statement);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) fail(database_.handle(), "the store's database");
}

bool Statement::step() {
  int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(database_.handle(), "the store's database");
  return false;
}

int64_t Statement::run() {
  step();
  int64_t changed = sqlite3_changes(database_.handle());
  check(sqlite3_reset(statement_.get()));
  return changed;
}

void Statement::put_integer(int position, int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), position, value));
}

void Statement::put(int position, std::string_view value) {
  check(sqlite3_bind_text64(statement_.get(), position, value.data(), value.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::put(int position, const std::optional<int64_t>& value) {
  if (value) return put_integer(position, *value);
  check(sqlite3_bind_null(statement_.get(), position));
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::optional<int64_t> Statement::maybe_integer(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (!text) return "";
  auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return {reinterpret_cast<const char*>(text), size};
}

Transaction::Transaction(Database& database) : database_(database), lock_(database.mutex()) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // Its failure leaves nothing to undo.
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace matador
