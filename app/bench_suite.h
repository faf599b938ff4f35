// The rows of `matador bench --suite`: what peers were measured with, so that figures compare.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "engine/engine.h"

namespace matador {

// `requests` of `input` random tokens each, sent at once, each answered by `output` tokens.
struct SuiteRow {
  std::string_view label;
  int32_t requests, input, output;
  int repetitions;  // the best counts
};

std::span<const SuiteRow> peers_suite();

// {label, n, inp, outp, best_s, all_s, out_tok_s, in_tok_s}: seconds from the first request sent to
// the last answered, prompts included, and tokens over the best of them.
Result<nlohmann::ordered_json> run_row(Engine& engine, const SuiteRow& row);

}  // namespace matador
