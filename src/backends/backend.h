// Backend and Ops: what a device must offer.
//
// Models call Ops eagerly, in order of effect; Backend::run brackets a step. The CPU calls the
// program, CUDA captures and replays it, PJRT traces and compiles it. So a program must be pure:
// it may not read a computed value on the host, and its shapes depend on the batch's shapes only.
//
// Every result for a token depends on that token and its context alone, bit for bit: not on the
// batch it runs in, how its prompt is chunked, nor the number of threads. Reductions are split at
// fixed places.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/batch.h"
#include "backends/params.h"
#include "core/result.h"
#include "core/tensor.h"
#include "quant/weight.h"

namespace matador {

// The experts of each token and their weights, both [num_tokens, top_k].
struct Routes {
  Tensor experts;  // i32
  Tensor weights;  // f32
};

// Stacked matrices: one of Weight::count for each expert.
struct ExpertWeights {
  const Weight* gate = nullptr;  // null: not gated
  const Weight* up = nullptr;
  const Weight* down = nullptr;
};

// Tensors that Ops return live until the next Backend::run or release_except. No operation changes
// its inputs, except those that say "in place".
class Ops {
 public:
  virtual ~Ops() = default;

  // Every backend implements these.
  // Rows of `table` by token id, times `scale`: [num_tokens, table.cols].
  virtual Tensor embed(const Weight& table, const Batch& batch, float scale) = 0;
  // Rows of `table` by position + offset; the table has them all.
  virtual Tensor embed_positions(const Weight& table, const Batch& batch, int32_t offset) = 0;
  // x W^T + bias: [x.rows, w.rows].
  virtual Tensor linear(const Tensor& x, const Weight& w) = 0;
  virtual Tensor norm(const Tensor& x, const Norm& norm, const Weight& w) = 0;
  // x + scale * y.
  virtual Tensor add(const Tensor& x, const Tensor& y, float scale) = 0;
  virtual Tensor multiply(const Tensor& x, const Tensor& y) = 0;
  virtual Tensor activate(const Tensor& x, Act act) = 0;
  // Each value brought into [-limit, limit].
  virtual Tensor clamp(const Tensor& x, float limit) = 0;
  // In place: rotates each head of `head_dim` features.
  virtual void rope(Tensor& heads, int32_t head_dim, const Rope& rope, const Batch& batch) = 0;
  // In place on the cache. Of a latent layer v is not read.
  virtual void store_kv(const KvLayer& kv, const Tensor& k, const Tensor& v,
                        const Batch& batch) = 0;
  // [num_tokens, num_heads * kv.value_dim()]; the step's own k and v are already stored. `sinks` is
  // a vector of one score for each head, of a key that has no value (gpt-oss); null: none.
  virtual Tensor attend(const Tensor& q, const KvLayer& kv, const Attend& attend,
                        const Batch& batch, const Weight* sinks = nullptr) = 0;
  // From router logits [num_tokens, num_experts]. `correction` is a vector of num_experts, null
  // unless routing.corrected.
  virtual Routes route(const Tensor& logits, const Routing& routing, const Weight* correction) = 0;
  // The weighted sum of what a token's experts make of it, in the order of its routes:
  // [num_tokens, down.rows].
  virtual Tensor experts(const Tensor& x, const Routes& routes, const ExpertWeights& weights,
                         const Expert& expert) = 0;
  // Of w.count heads, equal runs of x's columns, the first w.cols features are multiplied by the
  // head's matrix; the rest of a head are kept behind its product. Without bias.
  virtual Tensor linear_heads(const Tensor& x, const Weight& w) = 0;
  // The columns of x, then those of y.
  virtual Tensor concat(const Tensor& x, const Tensor& y) = 0;
  // The rows of x with these indices.
  virtual Tensor take(const Tensor& x, std::span<const int32_t> rows) = 0;
  // factor * softcap(x): softcap 0 means none. f32, for logits.
  virtual Tensor scale_logits(const Tensor& x, float factor, float softcap) = 0;

  // Fused forms. The defaults compose the operations above; override where the device has better.
  // linear(x, w) for several w at once: one pass over x.
  virtual std::vector<Tensor> linears(const Tensor& x, std::span<const Weight* const> weights);
  // act(gate) * up.
  virtual Tensor gated(const Tensor& gate, const Tensor& up, Act act);
  // {norm(x + y), x + y}.
  virtual std::pair<Tensor, Tensor> add_norm(const Tensor& x, const Tensor& y, const Norm& norm,
                                             const Weight& w);

  // The batch's draws from these logits, at the end of a program; only where Backend::draws.
  virtual void draw(const Tensor& logits, const Draws& draws);

  // A promise that lets a backend reuse memory within a step: of all tensors returned so far, only
  // `live` will be read again. Models call it at least once a layer, so that a step's activations
  // take the room of a sub-layer or two, not of the whole network.
  virtual void release_except(std::span<const Tensor> live);
};

// Shapes of a step, for backends that keep a compiled or captured program per shape.
struct StepKey {
  uint32_t tokens = 0;
  uint32_t sequences = 0;
  auto operator<=>(const StepKey&) const = default;
};
using Program = std::function<void(Ops&)>;

// A block of device memory, zero-filled; freed with the object.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void* data() const = 0;
  virtual size_t size() const = 0;
};

struct DeviceInfo {
  std::string name;           // "cpu (avx512-vnni, 2 threads)"
  uint64_t memory_total = 0;  // bytes
  uint64_t memory_free = 0;
  bool asynchronous = false;     // run() returns before the step has ended
  bool own_memory = false;       // not the machine's: the cache may take what the weights leave
  KvType kv_type = KvType::f16;  // of the cache, where nothing else is asked for
  // As many tokens a step run at full speed; longer steps would only keep others waiting.
  int32_t step_tokens = 2048;
};

// A matrix on the host, as a checkpoint stores it, or a stack of them.
struct HostWeight {
  const Format* format = nullptr;
  int32_t count = 1;
  int64_t rows = 0, cols = 0;
  const std::byte* data = nullptr;
  std::shared_ptr<const void> owner;
  std::vector<float> bias;  // [count * rows]; empty: none
  Precision precision = Precision::exact;
  bool is_table = false;  // also read by row (embed)
  // `data` lies in a read-only file mapping: a backend that keeps a copy of its own may give the
  // pages back, to be read again from the file where needed.
  bool mapped = false;
};

// One per device. Used by one thread at a time (the engine's), except `info`.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual DeviceInfo info() const = 0;
  // Brings a weight to the device, repacked if that helps the kernels. Throws when out of memory.
  virtual Weight load(HostWeight weight) = 0;
  // A weight of this shape and format with random values (backends/random_weight.h); its data is
  // not read. The default makes them on the host.
  virtual Weight make_random(HostWeight shape, uint64_t seed);
  virtual std::unique_ptr<Buffer> allocate(size_t bytes) = 0;
  // Bytes of one block of a KV layer with these dimensions (fills kv.block_bytes).
  virtual int64_t kv_block_bytes(const KvLayer& kv) const = 0;
  virtual void copy(void* to, const void* from, size_t bytes) = 0;  // both on the device
  // Once a step, before run: whatever all layers share (rope tables, attention schedule).
  virtual void plan(const Batch& batch) = 0;
  virtual void run(StepKey key, const Program& program) = 0;
  // Whether the device chooses tokens itself, as Batch::draws asks.
  virtual bool draws() const { return false; }
  // The results of the oldest run that drew and whose results were not taken; waits for them.
  // Valid until the next but one run.
  virtual DrawResults take_draws();
  // How long an asynchronous device has worked on runs that have ended, in all.
  virtual double busy_seconds() { return 0; }
  // An f32 tensor of the last run, row after row, on the host; valid until the next run.
  virtual std::span<const float> to_host(const Tensor& tensor) = 0;
};

}  // namespace matador
