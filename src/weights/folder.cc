#include "weights/folder.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/file.h"
#include "core/json.h"
#include "weights/safetensors.h"
#include "weights/tensor_list.h"

namespace matador {
namespace {

namespace fs = std::filesystem;

constexpr JsonLimits kIndexLimits{.bytes = size_t{256} << 20, .depth = 16, .unique_keys = true};
constexpr std::string_view kIndexSuffix = ".safetensors.index.json";

class Folder final : public Checkpoint {
 public:
  Folder(std::string path, Config config, Config generation, std::vector<StoredTensor> tensors)
      : path_(std::move(path)),
        config_(std::move(config)),
        generation_config_(std::move(generation)),
        tensors_(std::move(tensors)) {}

  NameStyle name_style() const override { return NameStyle::huggingface; }
  const Config& config() const override { return config_; }
  const Config& generation_config() const override { return generation_config_; }
  std::span<const StoredTensor> tensors() const override { return tensors_; }
  const std::string& path() const override { return path_; }

 private:
  std::string path_;
  Config config_;
  Config generation_config_;
  std::vector<StoredTensor> tensors_;
};

std::vector<std::string> files_ending_in(const std::string& folder, std::string_view suffix) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.ends_with(suffix)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// An index maps each tensor to its shard.
struct Index {
  std::string path;
  nlohmann::json weight_map;
};

Result<Index> read_index(const std::string& path) {
  Result<std::string> text = read_file(path, kIndexLimits.bytes);
  if (!text) return text.error();
  Result<nlohmann::json> json = parse_json(*text, path, kIndexLimits);
  if (!json) return json.error();
  if (!json->is_object() || !json->contains("weight_map") || !(*json)["weight_map"].is_object()) {
    return invalid_argument(path + ": \"weight_map\" is missing or not an object");
  }
  Index index{path, std::move((*json)["weight_map"])};
  for (const auto& [tensor, shard] : index.weight_map.items()) {
    const std::string name = shard.is_string() ? shard.get<std::string>() : "";
    if (name.empty() || name.find('/') != std::string::npos || !name.ends_with(".safetensors")) {
      return invalid_argument(path + ": weight_map \"" + tensor + "\" is " + dump_json(shard) +
                              ", expected the name of a .safetensors file in the same folder");
    }
  }
  return index;
}

Result<std::vector<StoredTensor>> read_shards(const std::string& folder,
                                              const std::set<std::string>& shards) {
  std::vector<StoredTensor> all;
  for (const std::string& shard : shards) {
    const std::string path = (fs::path(folder) / shard).string();
    Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
    if (!file) return file.error();
    Result<std::vector<StoredTensor>> tensors = read_safetensors((*file)->bytes(), path, *file);
    if (!tensors) return tensors.error();
    mark_mapped(*tensors, **file);
    all.insert(all.end(), std::make_move_iterator(tensors->begin()),
               std::make_move_iterator(tensors->end()));
  }
  if (Status sorted = sort_by_name(all, folder); !sorted) return sorted.error();
  return all;
}

Status check_index(const Index& index, const std::vector<StoredTensor>& tensors) {
  for (const auto& [name, shard] : index.weight_map.items()) {
    if (find_by_name(tensors, name) == nullptr) {
      return invalid_argument(index.path + ": tensor \"" + name + "\" should be in " +
                              shard.get<std::string>() + ", but no shard has it");
    }
  }
  return {};
}

Error no_weights(const std::string& folder) {
  std::string found = "no weights";
  for (const std::string_view suffix : {".bin", ".pth", ".pt", ".h5", ".msgpack"}) {
    const std::vector<std::string> files = files_ending_in(folder, suffix);
    if (!files.empty()) found = files.front();
  }
  return not_found(folder + ": found " + found +
                   ", expected model.safetensors or shards with model.safetensors.index.json");
}

Result<std::vector<StoredTensor>> read_tensors(const std::string& folder) {
  const std::vector<std::string> indexes = files_ending_in(folder, kIndexSuffix);
  if (!indexes.empty()) {
    Result<Index> index = read_index((fs::path(folder) / indexes.front()).string());
    if (!index) return index.error();
    std::set<std::string> shards;
    for (const auto& shard : index->weight_map) shards.insert(shard.get<std::string>());
    Result<std::vector<StoredTensor>> tensors = read_shards(folder, shards);
    if (!tensors) return tensors;
    if (Status complete = check_index(*index, *tensors); !complete) return complete.error();
    return tensors;
  }
  const std::vector<std::string> files = files_ending_in(folder, ".safetensors");
  if (files.empty()) return no_weights(folder);
  const bool named = std::binary_search(files.begin(), files.end(), "model.safetensors");
  if (files.size() > 1 && !named) {
    return invalid_argument(folder + ": " + std::to_string(files.size()) +
                            " .safetensors files but no model.safetensors.index.json, expected "
                            "one file or an index");
  }
  return read_shards(folder, {named ? "model.safetensors" : files.front()});
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> open_folder(const std::string& path) {
  Result<Config> config = Config::read((fs::path(path) / "config.json").string());
  if (!config) return config.error();
  Result<Config> generation = Config::read((fs::path(path) / "generation_config.json").string());
  if (!generation && generation.error().code != ErrorCode::not_found) return generation.error();
  Result<std::vector<StoredTensor>> tensors = read_tensors(path);
  if (!tensors) return tensors.error();
  return std::unique_ptr<Checkpoint>(std::make_unique<Folder>(
      path, std::move(*config), generation ? *generation : Config(), std::move(*tensors)));
}

}  // namespace matador
