// Store: what a server keeps on disk: files, batches, usage. One folder, one process at a time.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "store/batch_store.h"
#include "store/database.h"
#include "store/file_store.h"
#include "store/usage_ledger.h"

namespace matador {

class FolderLock;

class Store {
 public:
  // Creates the folder where there is none. Fails where it cannot be used, or another process uses
  // it (unavailable).
  static Result<std::unique_ptr<Store>> open(const std::string& folder);
  ~Store();

 private:
  Store(std::unique_ptr<FolderLock> lock, const std::string& folder);
  std::unique_ptr<FolderLock> lock_;
  Database database_;

 public:
  FileStore files;
  BatchStore batches;
  UsageLedger usage;
};

}  // namespace matador
