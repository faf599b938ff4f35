// FileStore: uploaded and produced files. Their content is in a folder, a file an id; what is
// known of them is in the database. Thread-safe.
//
// A file belongs to an owner, the name of an API key ("" where none are asked for), and exists for
// nobody else.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "store/database.h"
#include "store/page.h"

namespace matador {

struct StoredFile {
  std::string id;  // "file-..."; given by the store
  std::string owner = {}, purpose = {}, filename = {};
  int64_t bytes = 0;
  int64_t created_at = 0;  // Unix seconds
  std::optional<int64_t> expires_at = {};
};

// A file being written, which nobody sees until FileStore::add; dropped with this otherwise.
class NewFile {
 public:
  NewFile(std::string folder, std::string id);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& id() const { return id_; }
  int64_t bytes() const { return bytes_; }
  void write(std::string_view data);  // throws a StoreFault when the disk refuses
  // All is on the disk, under its final name.
  void close();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string part() const { return folder_ + "/" + id_ + ".part"; }

  std::string folder_, id_;
  std::unique_ptr<std::FILE, Close> file_;
  int64_t bytes_ = 0;
};

class FileStore {
 public:
  // Removes what a killed process left half written.
  FileStore(Database& database, std::string folder);

  std::unique_ptr<NewFile> create() const;
  // Makes a written file known; id, bytes and created_at are filled in.
  StoredFile add(NewFile& content, StoredFile description);
  std::optional<StoredFile> find(std::string_view owner, std::string_view id) const;
  // `purpose` "": all. Nothing after an id that is unknown.
  Page<StoredFile> list(std::string_view owner, std::string_view purpose,
                        const PageRequest& page) const;
  bool remove(std::string_view owner, std::string_view id);
  void remove_expired();
  std::string path_of(std::string_view id) const;

  // Within the caller's transaction, for a file whose content is closed.
  void insert(const StoredFile& file);

 private:
  void unlink(const std::string& id) const;
  void remove_strays() const;

  Database& database_;
  std::string folder_;
};

}  // namespace matador
