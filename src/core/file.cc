#include "core/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace matador {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Error system_error(const std::string& path, const char* action) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::io;
  return {code, path + ": " + action + ": " + std::strerror(errno)};
}

struct OpenFile {
  Descriptor descriptor;
  uint64_t size;
};

Result<OpenFile> open_regular(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0) return system_error(path, "cannot open");
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) return system_error(path, "cannot read its size");
  if (!S_ISREG(info.st_mode)) return invalid_argument(path + ": not a regular file");
  return OpenFile{std::move(descriptor), static_cast<uint64_t>(info.st_size)};
}

}  // namespace

Result<std::string> read_file(const std::string& path, uint64_t limit) {
  Result<OpenFile> file = open_regular(path);
  if (!file) return file.error();
  if (file->size > limit) {
    return invalid_argument(path + ": " + std::to_string(file->size) + " bytes, expected at most " +
                            std::to_string(limit));
  }
  std::string text(file->size, '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::read(file->descriptor.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(path, "cannot read");
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  text.resize(done);
  return text;
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  Result<OpenFile> file = open_regular(path);
  if (!file) return file.error();
  void* data = nullptr;
  if (file->size > 0) {
    data = ::mmap(nullptr, file->size, PROT_READ, MAP_PRIVATE, file->descriptor.get(), 0);
    if (data == MAP_FAILED) return system_error(path, "cannot map");
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(path, static_cast<std::byte*>(data), file->size));
}

MappedFile::MappedFile(std::string path, std::byte* data, size_t size)
    : path_(std::move(path)), data_(data), size_(size) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace matador
