#include "store/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

namespace matador {

// Let go by the system when the process ends, however it does.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_(::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}
  ~FolderLock() {
    if (file_ >= 0) ::close(file_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  bool opened() const { return file_ >= 0; }
  bool take() const { return ::flock(file_, LOCK_EX | LOCK_NB) == 0; }

 private:
  int file_;
};

Result<std::unique_ptr<Store>> Store::open(const std::string& folder) {
  std::error_code refused;
  std::filesystem::create_directories(folder, refused);
  if (refused) return Error{ErrorCode::io, folder + ": " + refused.message()};
  auto lock = std::make_unique<FolderLock>(folder);
  if (!lock->opened()) return Error{ErrorCode::io, folder + ": it cannot be written to"};
  if (!lock->take())
    return Error{ErrorCode::unavailable, folder + ": another process uses this data folder"};
  try {
    return std::unique_ptr<Store>(new Store(std::move(lock), folder));
  } catch (const std::exception& fault) {
    return Error{ErrorCode::io, folder + ": " + fault.what()};
  }
}

Store::Store(std::unique_ptr<FolderLock> lock, const std::string& folder)
    : lock_(std::move(lock)),
      database_(folder + "/matador.sqlite"),
      files(database_, folder + "/files"),
      batches(database_, files),
      usage(database_) {}

Store::~Store() = default;

}  // namespace matador
