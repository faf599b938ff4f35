// From a checkpoint to a model.
#include <utility>

#include "models/decoder.h"
#include "models/model.h"
#include "models/registry.h"
#include "models/weight_binder.h"

namespace matador {
namespace {

Result<std::unique_ptr<Decoder>> make_decoder(const Checkpoint& checkpoint,
                                              const Architecture& architecture) {
  ConfigReader reader(checkpoint.config());
  DecoderSpec spec = architecture.describe(reader);
  if (Status status = reader.status(); !status) return status.error();
  return std::make_unique<Decoder>(architecture, std::move(spec));
}

}  // namespace

Result<std::unique_ptr<Model>> load_model(const Checkpoint& checkpoint, Backend& backend,
                                          const LoadOptions& options) {
  Result<const Architecture*> architecture = find_architecture(checkpoint.config());
  if (!architecture) return architecture.error();
  Result<std::unique_ptr<Decoder>> decoder = make_decoder(checkpoint, **architecture);
  if (!decoder) return decoder.error();
  const Names names(checkpoint.name_style(), (*architecture)->names);
  WeightBinder binder(checkpoint, names);
  (*decoder)->bind(binder);
  if (Status status = binder.check((*architecture)->name); !status) return status.error();
  binder.load(backend, options);
  (*decoder)->finish(binder);
  return std::unique_ptr<Model>(std::move(*decoder));
}

Result<std::string> describe_model(const Checkpoint& checkpoint) {
  Result<const Architecture*> architecture = find_architecture(checkpoint.config());
  if (!architecture) return architecture.error();
  Result<std::unique_ptr<Decoder>> decoder = make_decoder(checkpoint, **architecture);
  if (!decoder) return decoder.error();
  return (*decoder)->describe();
}

}  // namespace matador
