// Kernels: what is built once for each instruction set, as one table of functions.
//
// Batch invariance is kept here: a function's result for a row or a token is the same bits however
// many rows or tokens one call is given. Between instruction sets results differ by rounding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/params.h"
#include "core/half.h"

namespace matador::cpu {

// Matrices are stored in strips of 16 rows, so that a vector holds one column of 16 rows.
constexpr int kStripRows = 16;

// How a strip's values are stored; see strip_layout.h for the bytes of each.
enum class StripKind : uint8_t {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
  count
};
constexpr bool is_quantised(StripKind kind) { return kind > StripKind::bf16; }

// Rows of activations in blocks of 32 signed bytes, each value being scale * level. The blocks of
// six rows lie side by side, as a tile reads them: see index().
constexpr int kActivationBlock = 32;
constexpr int kRowGroup = 6;
struct QuantisedRows {
  int64_t cols = 0;                   // a multiple of 32
  int8_t* levels = nullptr;           // 32 a block
  float* scales = nullptr;            // one a block, as the next three
  float* sums = nullptr;              // scale * sum of the levels
  int32_t* negated = nullptr;         // - sum of the levels
  int32_t* negated_halves = nullptr;  // two a block: the same for 16 levels each

  int64_t blocks() const { return cols / kActivationBlock; }
  // Of a row's block among all blocks.
  int64_t index(int64_t row, int64_t block) const {
    return (row / kRowGroup * blocks() + block) * kRowGroup + row % kRowGroup;
  }
};

constexpr int64_t padded_pairs(int64_t cols) { return (cols + 1) / 2 * 2; }

// Some neighbouring strips times rows [begin, end) of the input; `begin` is a multiple of
// kRowGroup.
struct StripJob {
  const std::byte* strips = nullptr;
  int64_t strip_bytes = 0;
  int64_t rows = 0;  // of the strips that exist; all but the last have 16
  int64_t cols = 0;
  const float* x = nullptr;  // for plain kinds
  int64_t x_stride = 0;
  const QuantisedRows* levels = nullptr;  // for quantised kinds
  const BFloat16* narrow = nullptr;       // for multiply_narrow: [rows, padded_pairs(cols)]
  int64_t begin = 0, end = 0;
  float* out = nullptr;  // the first strip's first column of row 0
  int64_t out_stride = 0;
  const float* bias = nullptr;  // of the strips, or null
};

// How attention divides the keys of a sequence; see attend.h.
constexpr int kTileGroups = 4;
constexpr int kTileKeys = 16 * kTileGroups;
constexpr int kSpanTiles = 8;
constexpr int32_t padded_dim(int32_t head_dim) { return (head_dim + 15) / 16 * 16; }
constexpr int64_t group_bytes(const KvLayer& kv) {
  return bytes_of(kv.type) * 16 * (kv.head_dim + padded_dim(kv.value_dim()));
}

// Some spans of the keys of one sequence and key-value head, for consecutive query tokens.
struct AttendJob {
  const std::byte* blocks = nullptr;  // of this head, in block 0
  int64_t block_bytes = 0;
  const int32_t* block_table = nullptr;
  int32_t block_size = 0;
  int32_t head_dim = 0;
  int32_t value_dim = 0;
  float softcap = 0;
  int32_t window = 0;
  int32_t chunk = 0;
  int32_t rows = 0;            // query rows: for each token, the heads of the group
  int32_t heads = 0;           // query heads of the group
  int32_t first_position = 0;  // of the first token
  int32_t span_begin = 0, span_end = 0;
  const float* q = nullptr;       // [rows, head_dim], scaled
  const float* slopes = nullptr;  // [heads], of ALiBi; null: none
  float* scores = nullptr;        // scratch [rows, kTileKeys]
  float* highest = nullptr;       // [rows]: results, for each row
  float* total = nullptr;         // [rows]
  float* out = nullptr;           // [rows, padded value_dim], not yet divided by total
  float* span_highest = nullptr;  // scratch: the same for one span
  float* span_total = nullptr;
  float* span_out = nullptr;
};

struct Kernels {
  std::array<void (*)(const StripJob&), static_cast<size_t>(StripKind::count)> strips;
  // Strips of bf16 times activations narrowed to bf16; null where the machine has no instruction
  // that makes it pay.
  void (*multiply_narrow)(const StripJob&) = nullptr;
  void (*narrow)(const float* x, BFloat16* out, int64_t count);
  // Row `row` of `rows` from x.
  void (*quantise)(const float* x, int64_t row, const QuantisedRows& rows);

  void (*add)(const float* x, const float* y, float scale, float* out, int64_t count);
  void (*multiply)(const float* x, const float* y, float* out, int64_t count);
  void (*activate)(const float* x, Act act, float* out, int64_t count);
  void (*clamp)(const float* x, float limit, float* out, int64_t count);
  void (*gated)(const float* gate, const float* up, Act act, float* out, int64_t count);
  void (*scale_logits)(const float* x, float factor, float softcap, float* out, int64_t count);
  // One group. weight and bias may be null.
  void (*norm)(const float* x, const Norm& norm, const float* weight, const float* bias, float* out,
               int64_t count);
  // One head in place; cosines and sines are [dim / 2].
  void (*rope)(float* x, const float* cosines, const float* sines, int32_t dim, bool interleaved);
  // One head's key and value into its slot of a group of 16 slots.
  std::array<void (*)(const float* k, const float* v, const KvLayer& kv, std::byte* group,
                      int32_t slot),
             3>
      store_kv;
  std::array<void (*)(const AttendJob&), 3> attend;
  // out = (out, other) as if their spans had been one; see AttendJob for the fields.
  void (*merge)(const AttendJob& into, int32_t row, float highest, float total, const float* out);
};

const Kernels& portable_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
const Kernels& avx512_vnni_kernels();
const Kernels& avx512_bf16_kernels();

}  // namespace matador::cpu
