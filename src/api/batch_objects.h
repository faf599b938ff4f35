// Batches as OpenAI's API takes and shows them.
// https://platform.openai.com/docs/api-reference/batch
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/error.h"
#include "store/batch_store.h"

namespace matador {

std::string batch_body(const BatchJob& batch);
std::string batch_list_body(const Page<BatchJob>& page);
ApiError no_such_batch(std::string_view id);

// POST /v1/batches. completion_window is OpenAI's "24h", or any whole number of s, m, h or d up to
// seven days.
struct BatchRequest {
  BatchJob batch;
  int64_t seconds = 0;  // of the completion window
};
ApiResult<BatchRequest> parse_batch(std::string_view body,
                                    const std::function<bool(std::string_view)>& is_endpoint);

// GET /v1/batches?limit=&after=
ApiResult<PageRequest> parse_batch_query(std::string_view query);

}  // namespace matador
