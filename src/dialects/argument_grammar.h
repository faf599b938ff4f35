// The part of a call's grammar that describes the arguments. Internal to this room.
#pragma once

#include <string>

#include "core/result.h"
#include "dialects/format.h"
#include "dialects/grammar_writer.h"
#include "dialects/tool.h"

namespace matador {

// Adds rules for the arguments of `tool`; gives the name of the one to use.
Result<std::string> add_arguments(const Tool& tool, const WrittenCalls& written,
                                  GrammarWriter& grammar);

}  // namespace matador
