// ServedModel: everything that answering needs of one model: the engine, its tokenizer and chat
// template, and the checkpoint's own generation defaults.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "engine/grammars.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace matador {

struct ServeOptions {
  EngineOptions engine;
  LoadOptions load;
  DeviceOptions device;
  std::string tokenizer;      // path, where the model has none of its own
  std::string chat_template;  // path or text, instead of the model's
};

struct ServedModel {
  std::string path;
  std::unique_ptr<Engine> engine;
  std::shared_ptr<const Tokenizer> tokenizer;         // null: none; text routes answer an error
  std::shared_ptr<const ChatTemplate> chat_template;  // null: none
  std::string chat_template_error;                    // why there is none, if it failed to compile
  std::unique_ptr<Grammars> grammars;                 // null: no tokenizer
  Config generation_config;
  std::vector<int32_t> eos_token_ids;
};

// Opens, loads and starts the model at `path` (a folder, a .gguf file or an installed name).
Result<std::unique_ptr<ServedModel>> load_served_model(const std::string& path,
                                                       const ServeOptions& options);

// The same of a model of this folder's config.json with random weights; without tokenizer.
Result<std::unique_ptr<ServedModel>> load_random_model(const std::string& folder,
                                                       const ServeOptions& options);

// What a model says of text: all that `matador tokenize` and `inspect` need.
struct ModelText {
  std::shared_ptr<const Tokenizer> tokenizer;         // null: none
  std::shared_ptr<const ChatTemplate> chat_template;  // null: none
  std::string chat_template_error;                    // why there is none, if it failed to compile
};
// Of the model at `path` (as in load_served_model), without reading its weights.
Result<ModelText> load_model_text(const std::string& path, const ServeOptions& options);

// A name or path to what open_checkpoint takes: itself if it exists, else a model installed in
// $MATADOR_MODELS or ~/.local/share/matador/models. The error lists what is installed.
Result<std::string> resolve_model(const std::string& name_or_path);

}  // namespace matador
