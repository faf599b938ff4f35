// The groups of routes.
#pragma once

#include <span>

#include "server/route.h"

namespace matador {

std::span<const Route> control_routes();     // health, metrics, version
std::span<const Route> model_routes();       // models, tokenize
std::span<const Route> generation_routes();  // chat, completions

}  // namespace matador
