// Routes that generate text.
#include <array>

#include "api/call.h"
#include "server/generation_job.h"
#include "server/routes.h"

namespace matador {
namespace {

template <ApiResult<Call> (*prepare)(std::string_view, const ApiModel&)>
void generate(const RouteContext& context, Visit visit) {
  if (context.draining)
    return visit.answer(unavailable("The server is shutting down", "shutting_down"));
  Account::Entry entry = visit.account->enter(!visit.in_batch);
  visit.headers.insert(visit.headers.end(), entry.headers.begin(), entry.headers.end());
  if (!entry.ticket) return visit.answer(entry.error);
  std::string body = std::move(visit.request.body);
  auto job = std::make_shared<GenerationJob>(context, std::move(visit), std::move(entry.ticket));
  job->attach();
  context.workers.post([&context, job, body = std::move(body)] {
    if (!job->wanted()) return;
    try {
      ApiResult<Call> call = prepare(body, context.model);
      if (call.ok())
        job->start(std::move(*call));
      else
        job->refuse(call.error());
    } catch (const std::exception& fault) {
      job->refuse(internal_error(fault));
    }
  });
}

constexpr std::array kRoutes = {
    Route{
        "POST", "/v1/chat/completions", Access::key, generate<prepare_chat>, {.in_batches = true}},
    Route{
        "POST", "/v1/completions", Access::key, generate<prepare_completion>, {.in_batches = true}},
};

}  // namespace

std::span<const Route> generation_routes() { return kRoutes; }

}  // namespace matador
