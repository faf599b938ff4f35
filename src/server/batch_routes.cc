// /v1/batches: create, list, get, cancel. A BatchRunner does the work.
#include <array>

#include "api/batch_objects.h"
#include "api/file_objects.h"
#include "server/batch_runner.h"
#include "server/routes.h"

namespace matador {
namespace {

ApiResult<std::string> create(const RouteContext& context, const Visit& visit) {
  ApiResult<BatchRequest> request = parse_batch(visit.request.body, is_batch_endpoint);
  if (!request.ok()) return request.error();
  BatchJob& batch = request->batch;
  auto file = context.store->files.find(visit.owner(), batch.input_file_id);
  if (!file) {
    ApiError error = no_such_file(batch.input_file_id);
    error.param = "input_file_id";
    return error;
  }
  if (file->purpose != "batch")
    return field_error("input_file_id", "must be a file whose purpose is \"batch\", found \"" +
                                            file->purpose + "\"");
  batch.owner = visit.owner();
  batch = context.store->batches.create(std::move(batch), request->seconds);
  context.batches->wake();
  return batch_body(batch);
}

ApiResult<std::string> list(const RouteContext& context, const Visit& visit) {
  ApiResult<PageRequest> page = parse_batch_query(visit.request.query);
  if (!page.ok()) return page.error();
  return batch_list_body(context.store->batches.list(visit.owner(), *page));
}

ApiResult<std::string> get(const RouteContext& context, const Visit& visit) {
  auto batch = context.store->batches.find(visit.owner(), visit.argument);
  if (!batch) return no_such_batch(visit.argument);
  return batch_body(*batch);
}

ApiResult<std::string> cancel(const RouteContext& context, const Visit& visit) {
  bool cancelled = context.store->batches.cancel(visit.owner(), visit.argument);
  auto batch = context.store->batches.find(visit.owner(), visit.argument);
  if (!batch) return no_such_batch(visit.argument);
  if (!cancelled)
    return ApiError{
        .status = 409,
        .message = "The batch cannot be cancelled: it is " + std::string(name_of(batch->status)),
        .param = "id",
        .code = "batch_has_ended"};
  context.batches->wake();
  return batch_body(*batch);
}

constexpr std::array kRoutes = {
    Route{"POST", "/v1/batches", Access::key, stored<later<create>>},
    Route{"GET", "/v1/batches", Access::key, stored<later<list>>},
    Route{"GET", "/v1/batches/{id}", Access::key, stored<later<get>>},
    Route{"POST", "/v1/batches/{id}/cancel", Access::key, stored<later<cancel>>},
};

}  // namespace

std::span<const Route> batch_routes() { return kRoutes; }

}  // namespace matador
