// The architectures this build knows. Each file of models/arch registers its own with one static
// object; nothing lists them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "models/config_reader.h"
#include "models/spec.h"
#include "weights/names.h"

namespace matador {

struct Architecture {
  std::string_view name;        // as architectures[0] of config.json has it
  std::string_view model_type;  // decides where a config names no architecture
  // Reads a config; what is wrong with it is recorded in the reader.
  DecoderSpec (*describe)(ConfigReader& c) = nullptr;
  std::vector<NameRule> names = {};  // where Hugging Face's names differ from Llama's
};

// Only as a static object of an architecture's file: registration is over before main.
class Register {
 public:
  explicit Register(Architecture architecture);
};

// Sorted by name.
std::vector<const Architecture*> architectures();
// By architectures[0], else by model_type. An unknown one is an error that names the nearest
// known.
Result<const Architecture*> find_architecture(const Config& config);

}  // namespace matador
