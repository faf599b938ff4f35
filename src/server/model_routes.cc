// The served model and its tokenizer.
#include <array>

#include "api/call.h"
#include "server/routes.h"

namespace matador {
namespace {

void models(const RouteContext& context, Visit visit) { visit.answer(models_body(context.model)); }

void model(const RouteContext& context, Visit visit) {
  visit.answer(model_body(context.model, visit.argument));
}

template <ApiResult<std::string> (*make)(std::string_view, const ApiModel&)>
ApiResult<std::string> compute(const RouteContext& context, const Visit& visit) {
  return make(visit.request.body, context.model);
}

constexpr std::array kRoutes = {
    Route{"GET", "/v1/models", Access::key, models},
    Route{"GET", "/v1/models/{path}", Access::key, model},
    Route{"POST", "/tokenize", Access::key, later<compute<tokenize_body>>},
    Route{"POST", "/detokenize", Access::key, later<compute<detokenize_body>>},
};

}  // namespace

std::span<const Route> model_routes() { return kRoutes; }

}  // namespace matador
