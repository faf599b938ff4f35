// Files as OpenAI's API shows them. https://platform.openai.com/docs/api-reference/files
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api/error.h"
#include "store/file_store.h"

namespace matador {

std::string file_body(const StoredFile& file);
std::string file_list_body(const Page<StoredFile>& page);
std::string deleted_file_body(std::string_view id);
ApiError no_such_file(std::string_view id);

// GET /v1/files?purpose=&limit=&after=&order=
struct FileQuery {
  std::string purpose;
  PageRequest page;
};
ApiResult<FileQuery> parse_file_query(std::string_view query);

// The form's fields beside the file: purpose, expires_after[anchor], expires_after[seconds].
// Fills in purpose and expires_at.
ApiResult<StoredFile> parse_file_form(const std::map<std::string, std::string>& fields);

}  // namespace matador
