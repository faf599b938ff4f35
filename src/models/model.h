// Model: a loaded network that runs on a backend.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "core/result.h"
#include "weights/checkpoint.h"

namespace matador {

struct ModelInfo {
  std::string architecture;  // "LlamaForCausalLM"
  std::string model_type;    // "llama"
  int32_t vocab_size = 0;    // width of the logits
  int32_t hidden_size = 0;
  int32_t num_layers = 0;
  int32_t max_position = 0;  // longest context the checkpoint was made for
  int64_t num_parameters = 0;
  uint64_t weight_bytes = 0;
  // Prompts of different rope length classes do not share cached blocks.
  bool state_depends_on_length = false;
  // A sequence that grows into another class is computed again from its start (longrope, as
  // transformers does it); else what is cached stays as it is (dynamic).
  bool recomputes_when_length_class_grows = false;
};

// The cache's per-layer storage, in the order of Model::kv_layers.
struct Cache {
  std::vector<KvLayer> layers;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelInfo& info() const = 0;
  // One for each layer that has paged state, dimensions filled in; the engine sizes, allocates
  // and owns the blocks, and never knows what their bytes mean.
  virtual std::vector<KvLayer> kv_layers(KvType type, int32_t block_size) const = 0;
  // 0 unless state_depends_on_length.
  virtual int32_t length_class(int32_t rope_length) const = 0;
  // f32 logits [batch.logit_tokens.size(), vocab_size].
  virtual Tensor forward(Ops& ops, const Batch& batch, const Cache& cache) const = 0;
  // The description, for `matador inspect`; a golden test for each architecture.
  virtual std::string describe() const = 0;
};

struct LoadOptions {
  Precision precision = Precision::fast;
  // Called with bytes done and bytes in all, from the loading thread.
  std::function<void(uint64_t, uint64_t)> progress;
};

// Reports every missing, unread or misshapen tensor at once.
Result<std::unique_ptr<Model>> load_model(const Checkpoint& checkpoint, Backend& backend,
                                          const LoadOptions& options);
// The description without loading a weight.
Result<std::string> describe_model(const Checkpoint& checkpoint);

}  // namespace matador
