// A Hugging Face folder as a Checkpoint: config.json, generation_config.json and safetensors in
// one file or in shards.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "weights/checkpoint.h"

namespace matador {

Result<std::unique_ptr<Checkpoint>> open_folder(const std::string& path);

}  // namespace matador
