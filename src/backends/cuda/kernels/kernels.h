// The kernels as host functions: each puts its work on a stream and returns. Shapes are those of
// the operation of the same name in backends/backend.h; tensors are f32 or bf16 as stated.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "backends/params.h"
#include "core/tensor.h"
#include "quant/weight.h"

namespace matador::cuda {

// What changes between two steps of the same shape, besides the arrays' content.
struct BatchHeader {
  int32_t num_decode_tasks;
  int32_t tables;  // where the block tables begin, in words from the header
  int32_t tasks;   // likewise the decode tasks
};

// A part of a decode's context: positions [first, first + kSplitTokens). Fixed boundaries, so that
// a token's sums do not depend on how many others are computed with it.
struct DecodeTask {
  int32_t sequence;
  int32_t first;
};
inline constexpr int kSplitTokens = 128;

// A Batch on the device; see backends/batch.h.
struct BatchArrays {
  const BatchHeader* header = nullptr;
  const int32_t* token_ids = nullptr;
  const int32_t* positions = nullptr;
  const int32_t* slots = nullptr;
  const int32_t* query_start = nullptr;
  const int32_t* context_lens = nullptr;
  const int32_t* logit_tokens = nullptr;
  const int32_t* sequences = nullptr;     // [num_tokens], the sequence of each
  const int32_t* table_starts = nullptr;  // [num_sequences], a table's first entry
  const int32_t* task_starts = nullptr;   // [num_sequences + 1], a sequence's first decode task
  int32_t num_tokens = 0;
  int32_t num_sequences = 0;
};

struct RopeAngles {
  const float* per_position = nullptr;  // of each pair, for token t at t * token_stride
  int32_t token_stride = 0;
};

void embed(const Weight& table, const BatchArrays& batch, float scale, const Tensor& y,
           cudaStream_t stream);
void embed_positions(const Weight& table, const BatchArrays& batch, int32_t offset, const Tensor& y,
                     cudaStream_t stream);
void norm(const Tensor& x, const Norm& norm, const Weight& w, const Tensor& y, cudaStream_t stream);
// sum = x + y; normed = norm(sum). Rows of one group only.
void add_norm(const Tensor& x, const Tensor& y, const Norm& norm, const Weight& w,
              const Tensor& normed, const Tensor& sum, cudaStream_t stream);
void add(const Tensor& x, const Tensor& y, float scale, const Tensor& sum, cudaStream_t stream);
void multiply(const Tensor& x, const Tensor& y, const Tensor& product, cudaStream_t stream);
void activate(const Tensor& x, Act act, const Tensor& y, cudaStream_t stream);
void clamp(const Tensor& x, float limit, const Tensor& y, cudaStream_t stream);
void gated(const Tensor& gate, const Tensor& up, Act act, const Tensor& y, cudaStream_t stream);
void scale_logits(const Tensor& x, float factor, float softcap, const Tensor& y,
                  cudaStream_t stream);
// y = x in y's dtype.
void convert(const Tensor& x, const Tensor& y, cudaStream_t stream);
void add_bias(const Tensor& y, const float* bias, cudaStream_t stream);
// `rows` are on the device.
void take(const Tensor& x, const int32_t* rows, const Tensor& y, cudaStream_t stream);
void rope(const Tensor& heads, int32_t head_dim, const Rope& rope, const RopeAngles& angles,
          const BatchArrays& batch, cudaStream_t stream);
void store_kv(const KvLayer& kv, const Tensor& k, const Tensor& v, const BatchArrays& batch,
              cudaStream_t stream);

// Logits and scores (scratch) are f32 [tokens, num_experts]; `correction` may be null.
void route(const Tensor& logits, const Routing& routing, const float* correction,
           const Tensor& scores, const Tensor& experts, const Tensor& weights, cudaStream_t stream);
// y[route] = experts[route] x, a row of x serving y.rows / x.rows routes in turn and being
// multiplied by the route's factor, where `factors` is not null.
void expert_linear(const Tensor& x, const Weight& w, const Tensor& experts, const float* factors,
                   const Tensor& y, cudaStream_t stream);
// In place: expert.limit and up_offset.
void limit(const Expert& expert, const Tensor& gate, const Tensor& up, cudaStream_t stream);
// y = the sum of a token's results by their weights (null: 1).
void combine(const Tensor& results, const float* weights, const Tensor& y, cudaStream_t stream);
void linear_heads(const Tensor& x, const Weight& w, const Tensor& y, cudaStream_t stream);

// Any formats and dtypes: decodes the weight as it goes, f32 sums in one fixed order.
void generic_linear(const Tensor& x, const Weight& w, const Tensor& y, cudaStream_t stream);
// y[rows, cols] bf16 = the decoded weight, densely.
void decode_weight(const Weight& w, const Tensor& y, cudaStream_t stream);

// y, bf16 and dense, gets random weights.
void fill_random(const Tensor& y, uint64_t seed, cudaStream_t stream);

// A product with one of several weights that a launch multiplies.
struct LinearOutput {
  const void* weight;  // bf16 [rows, cols], 16-byte aligned
  const float* bias;   // or null
  Tensor y;
};
inline constexpr int kLinearOutputs = 4;

// x W^T for a few tokens, bf16: cols a multiple of 8 and x's rows 16-byte aligned. Needs sm_80.
inline constexpr int kSkinnyTokens = 16;
// Whether device and build are for it, and for tensor-core attention: a build for older devices
// alone runs on newer ones too, without their instructions.
bool has_tensor_code();
void skinny_linear(const Tensor& x, std::span<const LinearOutput> outputs, cudaStream_t stream);

// The same for more tokens, on Hopper. What thread blocks leave for each other lies in a workspace,
// which one stream at a time may use.
inline constexpr int kStreamTokens = 256;
struct StreamWorkspace {
  float4* sums = nullptr;     // stream_sum_bytes(thread_blocks)
  int32_t* ready = nullptr;   // [2 * thread_blocks], zeros between kernels
  int32_t thread_blocks = 0;  // as many as the device has processors
};
size_t stream_sum_bytes(int32_t thread_blocks);
// Whether device and build are for Hopper.
bool has_hopper();
void stream_linear(const Tensor& x, std::span<const LinearOutput> outputs,
                   const StreamWorkspace& workspace, cudaStream_t stream);

// Attention of any head size and dtype, one warp a query head; f32 arithmetic in order of position.
// `sinks` may be null.
void attend_generic(const Tensor& q, const KvLayer& kv, const Attend& attend,
                    const BatchArrays& batch, const float* sinks, const Tensor& y,
                    cudaStream_t stream);
// Attention on tensor cores (sm_80): bf16 q, a cache of 16-bit numbers, a head_dim of
// has_tensor_attend, which depends on the shared memory a block may have. Every token's result is
// the same bits from either kernel.
bool has_tensor_attend(const KvLayer& kv, const Attend& attend, size_t shared_bytes);
struct PrefillRows {
  std::span<const int32_t> query_start;  // on the host
  bool decodes_too;                      // all sequences, not only those with several tokens
};
void attend_prefill(const Tensor& q, const KvLayer& kv, const Attend& attend,
                    const BatchArrays& batch, const PrefillRows& rows, const Tensor& y,
                    cudaStream_t stream);
// The same on Hopper, where has_hopper(), for the shapes of
// has_hopper_attend.
bool has_hopper_attend(const KvLayer& kv, const Attend& attend);
void attend_hopper(const Tensor& q, const KvLayer& kv, const Attend& attend,
                   const BatchArrays& batch, const PrefillRows& rows, const Tensor& y,
                   cudaStream_t stream);
// The sequences with one token: at most kDecodeGroup query heads a KV head. `partials` holds
// decode_partial_floats() for each task; they are merged into y.
inline constexpr int kDecodeGroup = 16;
size_t decode_partial_floats(const Attend& attend);
void attend_splits(const Tensor& q, const KvLayer& kv, const Attend& attend,
                   const BatchArrays& batch, float* partials, cudaStream_t stream);
void attend_splits_hopper(const Tensor& q, const KvLayer& kv, const Attend& attend,
                          const BatchArrays& batch, float* partials, cudaStream_t stream);
void merge_splits(const float* partials, const Attend& attend, const BatchArrays& batch,
                  const Tensor& y, cudaStream_t stream);

}  // namespace matador::cuda
