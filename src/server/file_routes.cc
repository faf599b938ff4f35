// /v1/files: upload, list, get, content, delete.
#include <array>

#include "api/file_objects.h"
#include "core/file.h"
#include "server/file_upload.h"
#include "server/routes.h"

namespace matador {
namespace {

std::shared_ptr<BodySink> receive(const RouteContext& context, const HttpRequest& request) {
  auto boundary = multipart_boundary(request.header("content-type"));
  if (!boundary || !context.store) return nullptr;
  return std::make_shared<FileUpload>(context.store->files, *boundary,
                                      context.options.limits.max_upload_bytes);
}

ApiResult<std::string> upload(const RouteContext& context, const Visit& visit) {
  auto* form = dynamic_cast<FileUpload*>(visit.request.body_sink.get());
  if (!form)
    return ApiError{.status = 415,
                    .message = "The body must be multipart/form-data with a boundary",
                    .code = "unsupported_media_type"};
  ApiResult<StoredFile> file = form->finish(context.store->files, visit.owner());
  if (!file.ok()) return file.error();
  return file_body(*file);
}

ApiResult<std::string> list(const RouteContext& context, const Visit& visit) {
  ApiResult<FileQuery> wanted = parse_file_query(visit.request.query);
  if (!wanted.ok()) return wanted.error();
  return file_list_body(context.store->files.list(visit.owner(), wanted->purpose, wanted->page));
}

ApiResult<std::string> get(const RouteContext& context, const Visit& visit) {
  auto file = context.store->files.find(visit.owner(), visit.argument);
  if (!file) return no_such_file(visit.argument);
  return file_body(*file);
}

ApiResult<std::string> remove(const RouteContext& context, const Visit& visit) {
  if (context.store->batches.uses(visit.argument))
    return ApiError{.status = 409,
                    .message = "A batch that has not ended reads this file",
                    .param = "id",
                    .code = "file_in_use"};
  if (!context.store->files.remove(visit.owner(), visit.argument))
    return no_such_file(visit.argument);
  return deleted_file_body(visit.argument);
}

// Sends a file piece by piece, each once the one before it has left.
class Download : public std::enable_shared_from_this<Download> {
 public:
  Download(std::shared_ptr<Exchange> exchange, std::shared_ptr<const MappedFile> file)
      : exchange_(std::move(exchange)), file_(std::move(file)) {}

  void send() {
    constexpr size_t kPiece = size_t{256} << 10;
    auto rest = file_->bytes().subspan(done_);
    if (rest.empty()) return exchange_->finish();
    auto piece = rest.first(std::min(rest.size(), kPiece));
    done_ += piece.size();
    exchange_->write({reinterpret_cast<const char*>(piece.data()), piece.size()},
                     [self = shared_from_this()] { self->send(); });
  }

 private:
  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<const MappedFile> file_;
  size_t done_ = 0;
};

void content(const RouteContext& context, Visit visit) {
  context.workers.post([&context, visit = std::move(visit)] {
    if (!context.store->files.find(visit.owner(), visit.argument))
      return visit.answer(no_such_file(visit.argument));
    auto file = MappedFile::open(context.store->files.path_of(visit.argument));
    if (!file.ok()) return visit.answer(to_api_error(file.error()));
    visit.exchange->open({.content_type = "application/octet-stream", .headers = visit.headers});
    std::make_shared<Download>(visit.exchange, std::move(*file))->send();
  });
}

constexpr std::array kRoutes = {
    Route{"POST", "/v1/files", Access::key, stored<later<upload>>, {.body_sink = receive}},
    Route{"GET", "/v1/files", Access::key, stored<later<list>>},
    Route{"GET", "/v1/files/{id}", Access::key, stored<later<get>>},
    Route{"DELETE", "/v1/files/{id}", Access::key, stored<later<remove>>},
    Route{"GET", "/v1/files/{id}/content", Access::key, stored<content>},
};

}  // namespace

std::span<const Route> file_routes() { return kRoutes; }

}  // namespace matador
