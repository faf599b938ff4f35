#include "data_folder.h"

#include <cstdio>
#include <cstdlib>

namespace matador {
namespace {

std::string usual_folder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data)
    return std::string(data) + "/matador/server";
  const char* home = std::getenv("HOME");
  return std::string(home ? home : ".") + "/.local/share/matador/server";
}

}  // namespace

Result<std::unique_ptr<Store>> open_data_folder(const std::string& folder) {
  auto store = Store::open(folder.empty() ? usual_folder() : folder);
  if (store.ok() || !folder.empty()) return store;
  std::fprintf(stderr, "matador: no files, batches and usage: %s (see --data-dir)\n",
               store.error().message.c_str());
  return std::unique_ptr<Store>();
}

}  // namespace matador
