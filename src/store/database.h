// Database: an SQLite file in write-ahead mode, and statements on it. A transaction that has
// committed survives the process being killed at any time. https://sqlite.org/wal.html
//
// A fault of the disk or the file is a StoreFault, thrown: it is no caller's mistake.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace matador {

class StoreFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Database;

// One prepared statement. Arguments are bound to its '?' in order.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  template <class... Arguments>
  Statement& bind(const Arguments&... arguments) {
    int position = 0;
    (put(++position, arguments), ...);
    return *this;
  }
  // The next row, if there is one.
  bool step();
  // For statements without rows: done, and ready to be bound again. The number of changed rows.
  int64_t run();

  int64_t integer(int column) const;
  std::optional<int64_t> maybe_integer(int column) const;
  std::string text(int column) const;  // "" where NULL

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  template <std::integral T>
  void put(int position, T value) {
    put_integer(position, static_cast<int64_t>(value));
  }
  void put(int position, std::string_view value);
  void put(int position, const std::optional<int64_t>& value);
  void put_integer(int position, int64_t value);
  void check(int code) const;

  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  // Opens or creates the file.
  explicit Database(const std::string& path);

  void execute(const char* sql);  // one or more statements
  sqlite3* handle() const { return handle_.get(); }
  // Held by each use: statements of several threads would mix in one transaction.
  std::mutex& mutex() { return mutex_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::mutex mutex_;
};

// The database's own for as long as it lives, and undone unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  std::lock_guard<std::mutex> lock_;
  bool open_ = true;
};

}  // namespace matador
