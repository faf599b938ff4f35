#include "engine/served_model.h"

#include <exception>
#include <future>
#include <set>
#include <utility>

#include "engine/model_text.h"
#include "models/random_model.h"
#include "weights/checkpoint.h"

namespace matador {

namespace {

Error fault(const std::string& what, const std::exception& exception) {
  return {ErrorCode::internal, what + ": " + exception.what()};
}

Result<OpenedText> open_text(const std::string& path, const ServeOptions& options) {
  try {
    return open_model_text(path, options);
  } catch (const std::exception& exception) {
    return fault(path + ": reading the tokenizer", exception);
  }
}

struct Loaded {
  std::shared_ptr<Backend> backend;
  std::unique_ptr<Model> model;
};

// `make` gets the backend and gives the model.
template <class Make>
Result<Loaded> load_weights(const std::string& path, const ServeOptions& options, Make make) {
  try {
    auto backend = open_device(options.device);
    if (!backend) return backend.error();
    Loaded loaded{.backend = std::move(*backend), .model = nullptr};
    Result<std::unique_ptr<Model>> model = make(*loaded.backend);
    if (!model) return model.error();
    loaded.model = std::move(*model);
    return loaded;
  } catch (const std::exception& exception) {
    return fault(path + ": loading the weights", exception);
  }
}

Status start_engine(ServedModel& served, Loaded loaded, const ServeOptions& options) {
  EngineOptions engine = options.engine;
  engine.eos_token_ids = served.eos_token_ids;
  auto created = Engine::create(std::move(loaded.model), std::move(loaded.backend), engine);
  if (!created) return created.error();
  served.engine = std::move(*created);
  return {};
}

// eos_token_id is a number in some files and a list in others.
void add_eos(const Config& config, std::set<int32_t>& tokens) {
  if (auto one = config.integer("eos_token_id")) tokens.insert(static_cast<int32_t>(*one));
  for (int64_t token : config.integers("eos_token_id").value_or(std::vector<int64_t>())) {
    tokens.insert(static_cast<int32_t>(token));
  }
}

std::vector<int32_t> eos_tokens(const Checkpoint& checkpoint, const OpenedText& opened) {
  std::set<int32_t> tokens(opened.eos_token_ids.begin(), opened.eos_token_ids.end());
  add_eos(checkpoint.generation_config(), tokens);
  if (!checkpoint.generation_config().has("eos_token_id")) add_eos(checkpoint.config(), tokens);
  return {tokens.begin(), tokens.end()};
}

}  // namespace

Result<std::unique_ptr<ServedModel>> load_served_model(const std::string& path,
                                                       const ServeOptions& options) {
  Result<std::string> resolved = resolve_model(path);
  if (!resolved) return resolved.error();
  auto checkpoint = open_checkpoint(*resolved);
  if (!checkpoint) return checkpoint.error();

  // The tokenizer is read while the weights are.
  auto reading = std::async(std::launch::async, open_text, *resolved, options);
  Result<Loaded> loaded = load_weights(*resolved, options, [&](Backend& backend) {
    return load_model(**checkpoint, backend, options.load);
  });
  Result<OpenedText> opened = reading.get();
  if (!loaded) return loaded.error();
  if (!opened) return opened.error();

  auto served = std::make_unique<ServedModel>();
  served->path = *resolved;
  served->tokenizer = std::move(opened->text.tokenizer);
  if (served->tokenizer) served->grammars = std::make_unique<Grammars>(served->tokenizer);
  served->chat_template = std::move(opened->text.chat_template);
  served->chat_template_error = std::move(opened->text.chat_template_error);
  served->generation_config = (*checkpoint)->generation_config();
  served->eos_token_ids = eos_tokens(**checkpoint, *opened);
  if (Status status = start_engine(*served, std::move(*loaded), options); !status) {
    return status.error();
  }
  return served;
}

Result<std::unique_ptr<ServedModel>> load_random_model(const std::string& folder,
                                                       const ServeOptions& options) {
  Result<Config> config = Config::read(folder + "/config.json");
  if (!config) return config.error();
  Result<Loaded> loaded = load_weights(folder, options, [&](Backend& backend) {
    return make_random_model(*config, backend, options.load);
  });
  if (!loaded) return loaded.error();
  auto served = std::make_unique<ServedModel>();
  served->path = folder;
  if (Status status = start_engine(*served, std::move(*loaded), options); !status) {
    return status.error();
  }
  return served;
}

}  // namespace matador
