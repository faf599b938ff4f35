// validate: what a request asks, against the bounds of the model and of the parameters' meaning.
#pragma once

#include <cstdint>

#include "core/result.h"
#include "engine/request.h"

namespace matador {

struct RequestBounds {
  int32_t vocab_size = 0;
  int32_t max_model_len = 0;
};

// Errors name the field as OpenAI's API (or vLLM's extension of it) spells it, the value found,
// and the bounds. The engine relies on everything checked here.
Status validate(const Request& request, const RequestBounds& bounds);

}  // namespace matador
