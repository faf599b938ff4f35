#include "server/file_upload.h"

#include <exception>
#include <utility>

#include "api/choice_text.h"
#include "api/file_objects.h"

namespace matador {
namespace {

constexpr size_t kMaxFields = 16;
constexpr size_t kMaxFieldBytes = 1024;

}  // namespace

FileUpload::FileUpload(const FileStore& files, const std::string& boundary, size_t max_bytes)
    : files_(files),
      max_bytes_(max_bytes),
      reader_(boundary, {.begin = [this](const FormPart& part) { begin(part); },
                         .data = [this](std::string_view data) { take(data); },
                         .end = [] {}}) {}

void FileUpload::write(std::string_view piece) noexcept {
  if (!error_.empty() || !fault_.empty()) return;
  try {
    reader_.write(piece);
  } catch (const std::exception& fault) {
    fault_ = fault.what();
  }
}

void FileUpload::begin(const FormPart& part) {
  if (part.name == "file") {
    if (file_) error_ = "'file' is there twice";
    file_ = files_.create();
    filename_ = replace_invalid_utf8(part.filename);
    field_.clear();
    return;
  }
  field_ = replace_invalid_utf8(part.name);
  if (field_.empty()) error_ = "a part has no name";
  if (!form_.emplace(field_, "").second) error_ = "'" + field_ + "' is there twice";
  if (form_.size() > kMaxFields) error_ = "the form has too many fields";
}

void FileUpload::take(std::string_view data) {
  if (!error_.empty()) return;
  if (field_.empty()) return file_->write(data);
  std::string& value = form_[field_];
  value += data;
  if (value.size() > kMaxFieldBytes) error_ = "'" + field_ + "' is too long";
}

ApiResult<StoredFile> FileUpload::finish(FileStore& files, const std::string& owner) {
  if (!fault_.empty()) throw StoreFault(fault_);
  if (error_.empty()) error_ = reader_.finish();
  if (!error_.empty())
    return ApiError{.message = "The form cannot be read: " + error_, .code = "invalid_form"};
  if (!file_) return field_error("file", "is required", "missing_required_parameter");
  for (auto& [name, value] : form_) value = replace_invalid_utf8(value);
  ApiResult<StoredFile> file = parse_file_form(form_);
  if (!file.ok()) return file.error();
  file->owner = owner;
  file->filename = filename_.empty() ? "file" : filename_;
  return files.add(*file_, std::move(*file));
}

}  // namespace matador
