#include "api/file_objects.h"

#include <array>
#include <charconv>
#include <ctime>

#include "api/field_reader.h"
#include "api/print.h"
#include "api/query.h"

namespace matador {
namespace {

constexpr int64_t kMaxFilesOfAPage = 10'000;
constexpr int64_t kShortestLife = 3600, kLongestLife = 30 * 24 * 3600;  // seconds; OpenAI's
constexpr std::array kPurposes = {"assistants", "batch",     "fine-tune",
                                  "vision",     "user_data", "evals"};

Json file_object(const StoredFile& file) {
  Json object = {{"id", file.id},
                 {"object", "file"},
                 {"bytes", file.bytes},
                 {"created_at", file.created_at},
                 {"filename", file.filename},
                 {"purpose", file.purpose},
                 {"status", "processed"},
                 {"status_details", nullptr}};
  if (file.expires_at) object["expires_at"] = *file.expires_at;
  return object;
}

void check_purpose(FieldReader& in, const std::string& purpose) {
  std::string all;
  for (const char* known : kPurposes) {
    if (purpose == known) return;
    all += (all.empty() ? "" : ", ") + std::string(known);
  }
  in.fail("purpose", "must be one of " + all + "; found " + describe_json(purpose));
}

void read_life(FieldReader& in, StoredFile& file) {
  auto anchor = in.text("expires_after[anchor]");
  auto seconds = in.text("expires_after[seconds]");
  if (!anchor && !seconds) return;
  if (anchor.value_or("") != "created_at")
    return in.fail("expires_after[anchor]", "must be \"created_at\"");
  int64_t life = 0;
  std::string text = seconds.value_or("");
  if (std::from_chars(text.data(), text.data() + text.size(), life).ptr !=
          text.data() + text.size() ||
      life < kShortestLife || life > kLongestLife)
    return in.fail("expires_after[seconds]", "must be an integer from " +
                                                 std::to_string(kShortestLife) + " to " +
                                                 std::to_string(kLongestLife));
  file.expires_at = std::time(nullptr) + life;
}

}  // namespace

std::string file_body(const StoredFile& file) { return dump_json(file_object(file)); }

std::string file_list_body(const Page<StoredFile>& page) {
  Json data = Json::array();
  for (const StoredFile& file : page.items) data.push_back(file_object(file));
  return list_body(std::move(data), page.has_more);
}

std::string deleted_file_body(std::string_view id) {
  return dump_json({{"id", id}, {"object", "file"}, {"deleted", true}});
}

ApiError no_such_file(std::string_view id) {
  return {.status = 404,
          .message = "There is no file with the id '" + std::string(id) + "'",
          .param = "id",
          .code = "file_not_found"};
}

ApiResult<FileQuery> parse_file_query(std::string_view query) {
  Json fields = parse_query(query);
  FieldReader in(fields);
  FileQuery wanted{in.text("purpose").value_or(""),
                   read_page(in, {kMaxFilesOfAPage, kMaxFilesOfAPage, true})};
  in.refuse_unknown();
  if (in.error()) return *in.error();
  return wanted;
}

ApiResult<StoredFile> parse_file_form(const std::map<std::string, std::string>& fields) {
  Json object(fields);
  FieldReader in(object);
  StoredFile file;
  auto purpose = in.text("purpose");
  if (!purpose) in.fail("purpose", "is required", "missing_required_parameter");
  if (purpose) check_purpose(in, *purpose);
  file.purpose = purpose.value_or("");
  read_life(in, file);
  in.refuse_unknown();
  if (in.error()) return *in.error();
  return file;
}

}  // namespace matador
