// A page of a list, as OpenAI's API pages: the objects after one that the caller knows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace matador {

struct PageRequest {
  int64_t limit = 20;
  std::string after = {};  // an id; "": from the start
  bool ascending = false;  // by age; else the newest first
};

template <class T>
struct Page {
  std::vector<T> items;
  bool has_more = false;
};

}  // namespace matador
