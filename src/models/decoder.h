// Decoder: the interpreter that runs any DecoderSpec. Roles are bound to weights once, at load.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/binder.h"
#include "models/model.h"
#include "models/registry.h"
#include "models/residual_stream.h"
#include "models/spec.h"

namespace matador {

class Decoder final : public Model {
 public:
  Decoder(const Architecture& architecture, DecoderSpec spec);

  // Asks `binder` for every weight; it fills them when it loads.
  void bind(Binder& binder);
  // After the weights are loaded.
  void finish(const Binder& binder);

  const ModelInfo& info() const override { return info_; }
  std::vector<KvLayer> kv_layers(KvType type, int32_t block_size) const override;
  int32_t length_class(int32_t rope_length) const override;
  Tensor forward(Ops& ops, const Batch& batch, const Cache& cache) const override;
  std::string describe() const override;

 private:
  struct BoundPath {
    const Path* path = nullptr;
    std::vector<Weight> weights = {};  // in the order of the sub-layer's roles
    Weight in_norm = {}, out_norm = {};
    int32_t kv = -1;  // index into the cache; -1: no state
  };
  struct BoundResidual {
    const Residual* residual = nullptr;
    std::vector<BoundPath> paths = {};
    Weight in_norm = {}, after_norm = {};
  };

  Tensor embed(Ops& ops, const Batch& batch) const;
  Tensor run(const BoundPath& bound, Ops& ops, const Tensor& x, const Batch& batch,
             const Cache& cache) const;
  // Of hidden states [rows, hidden_size].
  Tensor logits(Ops& ops, const Tensor& x) const;
  void bind_ends(Binder& binder);
  void bind_path(Binder& binder, int32_t layer, BoundPath& bound) const;
  void bind_norm(Binder& binder, int32_t layer, const Norm& norm, const std::string& role,
                 Weight& target) const;

  DecoderSpec spec_;
  ModelInfo info_;
  const Rope* length_dependent_ = nullptr;  // the first that depends on the length
  std::vector<BoundResidual> residuals_;    // of all layers, one after another
  Weight embed_, positions_, embedding_norm_, final_norm_, head_;
  Weight project_in_, project_out_;  // where embedding_size differs
};

}  // namespace matador
