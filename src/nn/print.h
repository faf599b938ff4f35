// print: operation parameters as short text, for descriptions of models.
#pragma once

#include <string>

#include "backends/params.h"

namespace matador {

std::string print(double value);  // six significant digits: "0.25", "1e-05"
std::string print(Act act);
std::string print(const Norm& norm);
std::string print(const Rope& rope);

}  // namespace matador
