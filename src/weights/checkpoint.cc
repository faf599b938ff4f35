#include "weights/checkpoint.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "weights/folder.h"
#include "weights/gguf.h"
#include "weights/gguf_config.h"
#include "weights/tensor_list.h"

namespace matador {
namespace {

class GgufCheckpoint final : public Checkpoint {
 public:
  GgufCheckpoint(std::shared_ptr<const GgufFile> file, Config config)
      : file_(std::move(file)),
        config_(std::move(config)),
        generation_config_(gguf_generation_config(*file_)) {}

  NameStyle name_style() const override { return NameStyle::gguf; }
  const Config& config() const override { return config_; }
  const Config& generation_config() const override { return generation_config_; }
  std::span<const StoredTensor> tensors() const override { return file_->tensors(); }
  const std::string& path() const override { return file_->source(); }

 private:
  std::shared_ptr<const GgufFile> file_;
  Config config_;
  Config generation_config_;
};

Result<std::unique_ptr<Checkpoint>> open_gguf(const std::string& path) {
  Result<std::shared_ptr<const GgufFile>> file = GgufFile::open(path);
  if (!file) return file.error();
  Result<Config> config = gguf_config(**file);
  if (!config) return config.error();
  return std::unique_ptr<Checkpoint>(
      std::make_unique<GgufCheckpoint>(std::move(*file), std::move(*config)));
}

}  // namespace

const StoredTensor* Checkpoint::find(std::string_view name) const {
  return find_by_name(tensors(), name);
}

Result<std::unique_ptr<Checkpoint>> open_checkpoint(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return not_found(path +
                     ": no such file or folder, expected a folder with config.json and "
                     "safetensors, or a .gguf file");
  }
  if (std::filesystem::is_directory(status)) return open_folder(path);
  return open_gguf(path);
}

}  // namespace matador
