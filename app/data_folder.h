// The folder in which `matador serve` keeps files, batches and usage.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace matador {

// `folder` as --data-dir has it; "": $XDG_DATA_HOME/matador/server or
// ~/.local/share/matador/server, and where that cannot be used (another server has it, say) null,
// with a line on stderr that says why.
Result<std::unique_ptr<Store>> open_data_folder(const std::string& folder);

}  // namespace matador
