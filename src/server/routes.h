// The groups of routes.
#pragma once

#include <span>

#include "server/route.h"

namespace matador {

std::span<const Route> control_routes();     // health, metrics, version, load, abort, usage
std::span<const Route> model_routes();       // models, tokenize
std::span<const Route> generation_routes();  // chat, completions
std::span<const Route> file_routes();
std::span<const Route> batch_routes();

// A path that lines of batches may call.
bool is_batch_endpoint(std::string_view path);

}  // namespace matador
