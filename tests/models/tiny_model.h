// TinyModel: one of tests/data/models, loaded on a backend, and a miniature of the engine that
// feeds it steps. Sequences get blocks in an order that is never the identity.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "models/model.h"
#include "weights/checkpoint.h"

namespace matador {

// What transformers says of one prompt.
struct Golden {
  std::vector<int32_t> tokens;
  std::vector<int32_t> greedy;             // the continuation
  std::vector<std::vector<float>> logits;  // one row a token
  float spread = 0;                        // highest minus lowest of all logits
};

// The folders of tests/data/models, and "folder/model.gguf" where there is such a file too.
std::vector<std::string> tiny_model_names();
std::vector<std::string> tiny_gguf_names();
// For gtest: letters, digits and underscores.
std::string test_name(std::string path);
// `path` is one of either.
std::vector<Golden> read_golden(const std::string& path);

// Tokens of one sequence that a step computes, after `start` that are in the cache.
struct Chunk {
  std::vector<int32_t> tokens;
  int32_t start = 0;
  std::vector<int32_t> blocks;  // enough for start + tokens
  int32_t rope_length = 0;      // 0: start + tokens
  bool wants_logits = true;
};

using Rows = std::vector<std::vector<float>>;

class TinyModel {
 public:
  static constexpr int32_t kBlockSize = 4;

  // `path` is below tests/data/models. Throws where loading fails.
  TinyModel(const std::string& path, std::shared_ptr<Backend> backend);

  // Blocks nobody has had yet, enough for `tokens`.
  std::vector<int32_t> new_blocks(size_t tokens);
  // Runs the chunks as one step; logits of every token of those that want them.
  Rows step(const std::vector<Chunk>& chunks);
  // A whole prompt in one step.
  Rows logits(const std::vector<int32_t>& tokens);
  std::vector<int32_t> generate(const std::vector<int32_t>& prompt, size_t count);

  const Model& model() const { return *model_; }

 private:
  std::shared_ptr<Backend> backend_;
  std::unique_ptr<Checkpoint> checkpoint_;
  std::unique_ptr<Model> model_;
  Cache cache_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  int32_t used_blocks_ = 0;
};

}  // namespace matador
