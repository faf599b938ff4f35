// KvCache: how many blocks of state a model gets, and their memory. What the bytes mean is the
// model's and the backend's business.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/backend.h"
#include "core/result.h"
#include "engine/engine.h"
#include "models/model.h"

namespace matador {

class KvCache {
 public:
  // Sizes and allocates. Without kv_cache_bytes: on a device with memory of its own, all that
  // gpu_memory_utilization leaves beside the weights; else room for max_num_seqs moderate contexts
  // and for two of the longest, within a share of free memory, in zero pages of which only what is
  // used becomes resident. An error has the arithmetic.
  static Result<KvCache> create(const Model& model, Backend& backend, const EngineOptions& options);

  const Cache& layers() const { return layers_; }
  int32_t block_size() const { return block_size_; }
  int32_t num_blocks() const { return num_blocks_; }
  // The longest sequence, at most what one sequence can have of all the blocks.
  int32_t max_model_len() const { return max_model_len_; }

 private:
  KvCache() = default;

  Cache layers_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  int32_t block_size_ = 0, num_blocks_ = 0, max_model_len_ = 0;
};

}  // namespace matador
