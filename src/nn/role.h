// Role: a weight as a sub-layer knows it. A checkpoint's own names for roles are the business of
// weights/names.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "backends/params.h"
#include "quant/weight.h"

namespace matador {

struct Role {
  enum class Kind : uint8_t {
    matrix,  // stays in the checkpoint's format
    table,   // a matrix that is also read by row: embeddings
    vector,  // norms: rows is 1; converted to f32
  };
  std::string_view name;  // "q"; "attn.q" with the path's name before it
  Kind kind = Kind::matrix;
  int64_t rows = 0;
  int64_t cols = 0;
  bool bias = false;
  // The rows come in this many equal parts, one a kv head, which a tensor of several roles may
  // interleave; a vector's values, in parts that may be tensors of their own.
  int32_t parts = 1;
  bool stored = true;      // false: not in the checkpoint, a vector of ones
  bool unit_rows = false;  // each row is divided by its length when it is loaded
  int32_t count = 1;       // matrices of this shape: one an expert, or a head
};

// The weight of a norm over `width` features.
inline Role norm_role(std::string_view name, const Norm& norm, int64_t width) {
  return {.name = name,
          .kind = Role::Kind::vector,
          .rows = 1,
          .cols = width,
          .bias = norm.has_bias,
          .stored = norm.has_weight};
}

// What a sub-layer is given when it is applied.
struct Slot {
  std::span<const Weight> weights;  // in the order of its roles()
  const KvLayer* kv = nullptr;      // null where it keeps no state
};

}  // namespace matador
