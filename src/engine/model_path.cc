// Where installed models lie.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "engine/served_model.h"

namespace matador {

namespace {

namespace fs = std::filesystem;

fs::path model_folder() {
  if (const char* folder = std::getenv("MATADOR_MODELS"); folder != nullptr && *folder != '\0') {
    return folder;
  }
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr ? home : ".") / ".local/share/matador/models";
}

std::string installed_models(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() == ".gguf") {
      names.push_back(path.stem().string());
    } else if (entry->is_directory(error)) {
      names.push_back(path.filename().string());
    }
  }
  if (names.empty()) return "none are installed";
  std::ranges::sort(names);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return "installed: " + list;
}

// A name is one component of a path, so that it cannot leave the folder.
bool is_name(const std::string& text) {
  return !text.empty() && text != "." && text != ".." && text.find('/') == std::string::npos;
}

}  // namespace

Result<std::string> resolve_model(const std::string& name_or_path) {
  std::error_code error;
  if (!name_or_path.empty() && fs::exists(name_or_path, error)) return name_or_path;
  const fs::path folder = model_folder();
  if (is_name(name_or_path)) {
    for (const fs::path& candidate : {folder / name_or_path, folder / (name_or_path + ".gguf")}) {
      if (fs::exists(candidate, error)) return candidate.string();
    }
  }
  return not_found("no model \"" + name_or_path + "\": neither a folder or .gguf file, nor in " +
                   folder.string() + " (" + installed_models(folder) + ")");
}

}  // namespace matador
