// Matmul: linear layers over packed weights.
//
// A weight with a packed form is multiplied from it: plain numbers with f32 activations (or bf16 by
// bf16, under Precision::fast where the machine has an instruction for it), quantised ones with
// activations of signed bytes (Precision::fast). All others, and quantised weights under
// Precision::exact, go strip by strip through f32: 16 rows are decoded into a scratch and
// multiplied as plain numbers, so every format works on its packed data.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/arena.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/packing.h"
#include "backends/cpu/thread_pool.h"
#include "core/tensor.h"
#include "quant/weight.h"

namespace matador::cpu {

// What Weight::packed points to.
struct LoadedWeight {
  std::optional<PackedMatrix> packed;
  std::vector<float> vector;  // decoded, of weights of one row (norms)
};
inline const LoadedWeight& loaded(const Weight& w) {
  return *static_cast<const LoadedWeight*>(w.packed.get());
}

// Decodes `count` rows from `first`, to [count, cols]; the weight's data need not be aligned.
void decode_rows(const Weight& w, int64_t first, int64_t count, float* out);

struct MatmulContext {
  const Kernels& kernels;
  ThreadPool& threads;
  Arena& arena;
};

// Rows [begin, end) of the input, which one matrix of each stack multiplies. `begin` is a multiple
// of kRowGroup.
struct Segment {
  int32_t matrix = 0;
  int64_t begin = 0, end = 0;
};

// outs[i] = x W_i^T + bias_i, for the rows of the segments. One pass over x.
void multiply(const MatmulContext& context, const Tensor& x, std::span<const Weight* const> weights,
              std::span<const Tensor> outs, std::span<const Segment> segments);
// The same for all rows and weights that are no stacks.
void multiply(const MatmulContext& context, const Tensor& x, std::span<const Weight* const> weights,
              std::span<const Tensor> outs);

}  // namespace matador::cpu
