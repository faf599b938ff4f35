// Calls as Python writes them: [f(a=1, b="x"), g()], or one a line.
#pragma once

#include <memory>

#include "dialects/call_reader.h"

namespace matador {

enum class PythonCallNames : uint8_t {
  any,      // a mark in front has said that calls follow
  offered,  // nothing has: only the tools' names are calls
};
// Arguments without a name take those of the schema, in order.
std::shared_ptr<const CallSyntax> python_calls(PythonCallNames names);

}  // namespace matador
