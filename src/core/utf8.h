// UTF-8 (RFC 3629): whether bytes are well formed.
#pragma once

#include <string>
#include <string_view>

namespace matador {

// Refuses overlong forms, surrogates and code points above U+10FFFF.
bool is_utf8(std::string_view text);
// For messages: as it is if well formed, else with every byte outside ASCII as \xNN.
std::string printable(std::string_view text);

}  // namespace matador
