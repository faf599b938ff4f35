// FileUpload: the body of POST /v1/files on its way to the disk, whatever its size.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/error.h"
#include "server/http.h"
#include "server/multipart.h"
#include "store/file_store.h"

namespace matador {

class FileUpload final : public BodySink {
 public:
  FileUpload(const FileStore& files, const std::string& boundary, size_t max_bytes);

  size_t max_bytes() const override { return max_bytes_; }
  void write(std::string_view piece) noexcept override;

  // Once all has come: makes the file known, as `owner`'s.
  ApiResult<StoredFile> finish(FileStore& files, const std::string& owner);

 private:
  void begin(const FormPart& part);
  void take(std::string_view data);

  const FileStore& files_;
  const size_t max_bytes_;
  std::unique_ptr<NewFile> file_;
  std::string filename_, field_;             // of the current part; "" for the file's
  std::map<std::string, std::string> form_;  // the other fields
  std::string error_, fault_;                // the client's, the disk's
  MultipartReader reader_;
};

}  // namespace matador
