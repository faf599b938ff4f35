#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/config.h"
#include "models/model.h"
#include "weights/checkpoint.h"

namespace {

class ConfigOnly final : public matador::Checkpoint {
 public:
  explicit ConfigOnly(matador::Config config) : config_(std::move(config)) {}
  matador::NameStyle name_style() const override { return matador::NameStyle::huggingface; }
  const matador::Config& config() const override { return config_; }
  const matador::Config& generation_config() const override { return config_; }
  std::span<const matador::StoredTensor> tensors() const override { return {}; }
  const std::string& path() const override { return path_; }

 private:
  matador::Config config_;
  std::string path_ = "fuzz";
};

}  // namespace

// Any config is described or refused with a message.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = matador::Config::parse(text, "fuzz");
  if (!config) return 0;
  const auto description = matador::describe_model(ConfigOnly(*config));
  const std::string& said = description.ok() ? *description : description.error().message;
  if (said.empty()) __builtin_trap();
  return 0;
}
