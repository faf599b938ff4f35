#include "store/file_store.h"

#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "core/random_id.h"

namespace matador {
namespace {

constexpr char kPrefix[] = "file-";
constexpr char kColumns[] = "id, owner, purpose, filename, bytes, created_at, expires_at";

StoredFile read_row(const Statement& row) {
  return {.id = row.text(0),
          .owner = row.text(1),
          .purpose = row.text(2),
          .filename = row.text(3),
          .bytes = row.integer(4),
          .created_at = row.integer(5),
          .expires_at = row.maybe_integer(6)};
}

[[noreturn]] void refuse(const std::string& path) {
  throw StoreFault(path + ": " + std::generic_category().message(errno));
}

}  // namespace

NewFile::NewFile(std::string folder, std::string id)
    : folder_(std::move(folder)), id_(std::move(id)), file_(std::fopen(part().c_str(), "wb")) {
  if (!file_) refuse(part());
}

NewFile::~NewFile() {
  if (file_) ::unlink(part().c_str());
}

void NewFile::write(std::string_view data) {
  if (std::fwrite(data.data(), 1, data.size(), file_.get()) != data.size()) refuse(part());
  bytes_ += static_cast<int64_t>(data.size());
}

void NewFile::close() {
  if (std::fflush(file_.get()) != 0 || fsync(fileno(file_.get())) != 0) refuse(part());
  if (std::rename(part().c_str(), (folder_ + "/" + id_).c_str()) != 0) refuse(part());
  file_.reset();
}

FileStore::FileStore(Database& database, std::string folder)
    : database_(database), folder_(std::move(folder)) {
  database_.execute(
      "CREATE TABLE IF NOT EXISTS files (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
      " id TEXT UNIQUE NOT NULL, owner TEXT NOT NULL, purpose TEXT NOT NULL,"
      " filename TEXT NOT NULL, bytes INTEGER NOT NULL, created_at INTEGER NOT NULL,"
      " expires_at INTEGER)");
  std::filesystem::create_directories(folder_);
  remove_strays();
}

void FileStore::remove_strays() const {
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    std::string name = entry.path().filename();
    Statement known(database_, "SELECT 1 FROM files WHERE id = ?");
    if (name.starts_with(kPrefix) && !known.bind(name).step()) unlink(name);
  }
}

std::unique_ptr<NewFile> FileStore::create() const {
  return std::make_unique<NewFile>(folder_, random_id(kPrefix));
}

StoredFile FileStore::add(NewFile& content, StoredFile description) {
  content.close();
  description.id = content.id();
  description.bytes = content.bytes();
  description.created_at = std::time(nullptr);
  Transaction transaction(database_);
  insert(description);
  transaction.commit();
  return description;
}

void FileStore::insert(const StoredFile& file) {
  Statement(database_,
            "INSERT INTO files (id, owner, purpose, filename, bytes, created_at, expires_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)")
      .bind(file.id, file.owner, file.purpose, file.filename, file.bytes, file.created_at,
            file.expires_at)
      .run();
}

std::optional<StoredFile> FileStore::find(std::string_view owner, std::string_view id) const {
  std::lock_guard lock(database_.mutex());
  Statement row(database_, std::string("SELECT ") + kColumns +
                               " FROM files WHERE owner = ? AND id = ?"
                               " AND (expires_at IS NULL OR expires_at > ?)");
  if (!row.bind(owner, id, std::time(nullptr)).step()) return std::nullopt;
  return read_row(row);
}

Page<StoredFile> FileStore::list(std::string_view owner, std::string_view purpose,
                                 const PageRequest& page) const {
  std::lock_guard lock(database_.mutex());
  std::string sql = std::string("SELECT ") + kColumns +
                    " FROM files WHERE owner = ? AND (? = '' OR purpose = ?)"
                    " AND (expires_at IS NULL OR expires_at > ?) AND (? = '' OR seq " +
                    (page.ascending ? ">" : "<") +
                    " (SELECT seq FROM files WHERE id = ?)) ORDER BY seq " +
                    (page.ascending ? "ASC" : "DESC") + " LIMIT ?";
  Statement row(database_, sql);
  row.bind(owner, purpose, purpose, std::time(nullptr), page.after, page.after, page.limit + 1);
  Page<StoredFile> found;
  while (row.step()) found.items.push_back(read_row(row));
  found.has_more = static_cast<int64_t>(found.items.size()) > page.limit;
  if (found.has_more) found.items.pop_back();
  return found;
}

bool FileStore::remove(std::string_view owner, std::string_view id) {
  std::lock_guard lock(database_.mutex());
  Statement remove(database_, "DELETE FROM files WHERE owner = ? AND id = ?");
  if (remove.bind(owner, id).run() == 0) return false;
  unlink(std::string(id));
  return true;
}

void FileStore::remove_expired() {
  std::lock_guard lock(database_.mutex());
  Statement expired(database_, "DELETE FROM files WHERE expires_at <= ? RETURNING id");
  expired.bind(std::time(nullptr));
  while (expired.step()) unlink(expired.text(0));
}

std::string FileStore::path_of(std::string_view id) const {
  return folder_ + "/" + std::string(id);
}

// One that is gone already is as good.
void FileStore::unlink(const std::string& id) const { ::unlink(path_of(id).c_str()); }

}  // namespace matador
