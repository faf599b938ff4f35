// The shape of a decoder as values: what loading, cache sizing, the interpreter and `inspect` all
// read. How each shape of block is said:
//   pre-norm      {{attn, in}}, {{mlp, in}}              Llama, Qwen
//   sandwich      {{attn, in, out}}, {{mlp, in, out}}    Gemma 2 and 3
//   parallel      {{attn, in}, {mlp, in}}                one residual, two paths
//   shared norm   {in, {attn}, {mlp}}                    parallel, one norm for both
//   output norm   {{attn, out}}, {{mlp, out}}            OLMo 2
//   post-norm     {{attn}, after}, {{mlp}, after}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nn/attention.h"
#include "nn/mla.h"
#include "nn/mlp.h"
#include "nn/moe.h"

namespace matador {

using SubLayer = std::variant<Attention, Mla, Mlp, Moe>;

// Its paged state; nothing where it keeps none.
std::optional<KvLayer> paged_state(const SubLayer& op, KvType type, int32_t block_size);
// Its rotary positions; null where it has none.
const Rope* rope_of(const SubLayer& op);

// out(op(in(x))).
struct Path {
  std::string_view name;  // before the roles of its weights: "attn", "mlp"
  Norm in = {};
  SubLayer op;
  Norm out = {};
};

// after(x + scale * the sum of paths(in(x))).
struct Residual {
  Norm in = {};  // shared by the paths
  std::vector<Path> paths;
  float scale = 1;
  Norm after = {};
  bool adds_to_normed = false;  // in(x) + ... instead of x + ...
};

using Layer = std::vector<Residual>;

// A learned vector for each position, in row position + offset of a table.
struct LearnedPositions {
  int32_t rows = 0;  // 0: none
  int32_t offset = 0;
};

struct DecoderSpec {
  int32_t vocab_size = 0;
  int32_t hidden_size = 0;
  // Of the tables at both ends where it differs from hidden_size: a matrix at each end projects.
  int32_t embedding_size = 0;  // 0: hidden_size
  int32_t max_position = 0;
  float embedding_factor = 1;
  LearnedPositions positions;
  Norm embedding_norm;
  std::vector<Layer> layers;
  int32_t draft_layers = 0;  // after those in the checkpoint, of multi-token prediction: not used
  Norm final_norm;
  bool tied_head = false;  // the head is the embedding table
  bool head_bias = false;
  bool unit_head = false;  // the head's rows are divided by their lengths
  float logit_factor = 1;
  float logit_softcap = 0;  // 0: none
};

// One paragraph; runs of equal layers are printed once.
std::string print(const DecoderSpec& spec);

}  // namespace matador
