#include "dialects/tool.h"

#include <algorithm>

namespace matador {

const Tool* find_tool(const ToolSet& tools, std::string_view name) {
  auto it = std::find_if(tools.begin(), tools.end(), [&](const Tool& t) { return t.name == name; });
  return it == tools.end() ? nullptr : &*it;
}

}  // namespace matador
