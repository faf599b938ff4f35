// Identifiers that nobody can guess.
#pragma once

#include <string>
#include <string_view>

namespace matador {

// `prefix` and 32 random hexadecimal digits. Any thread may call it.
std::string random_id(std::string_view prefix);

}  // namespace matador
