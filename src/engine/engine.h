// Engine: one thread that owns the scheduler and the model's state, and turns requests into
// events. submit and cancel may be called from any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/backend.h"
#include "engine/request.h"
#include "models/model.h"

namespace matador {

struct EngineOptions {
  int32_t max_model_len = 0;           // 0: the model's own, reduced to what the cache can hold
  int32_t max_num_seqs = 256;          // sequences running at once
  int32_t max_num_batched_tokens = 0;  // tokens a step; 0: DeviceInfo::step_tokens
  int32_t max_waiting = 4096;          // requests queued; more are refused (unavailable)
  int32_t block_size = 16;             // tokens a block
  uint64_t kv_cache_bytes = 0;         // 0: chosen from the model and free memory
  // Of a device's own memory, what weights and cache may take together; the rest is left to
  // activations.
  double gpu_memory_utilization = 0.9;
  std::optional<KvType> kv_type = {};  // none: what the device likes
  bool prefix_caching = true;
  // Plan and launch a step while the one before it runs; none: where the device allows it.
  std::optional<bool> plan_ahead = {};
  uint64_t seed = 0;  // for requests without their own
  std::vector<int32_t> eos_token_ids = {};
  std::function<TimePoint()> clock = std::chrono::steady_clock::now;  // of the events' times
};

// How many steps computed how many tokens. counts[i]: at most kBounds[i], and more than the bound
// before; the last: more than all.
struct StepTokens {
  static constexpr std::array<int32_t, 13> kBounds = {1,   8,    16,   32,   64,   128,  256,
                                                      512, 1024, 2048, 4096, 8192, 16384};
  std::array<uint64_t, kBounds.size() + 1> counts = {};
  uint64_t sum = 0;

  void add(int32_t tokens);
};

// A snapshot; counters only grow.
struct EngineStats {
  int32_t num_running = 0, num_waiting = 0;
  double kv_cache_usage = 0;                    // 0 to 1
  int32_t num_blocks = 0, num_free_blocks = 0;  // free includes cached blocks nobody holds
  uint64_t prompt_tokens = 0, generation_tokens = 0;
  uint64_t prefix_queries = 0, prefix_hits = 0;  // tokens
  uint64_t preemptions = 0;
  uint64_t steps = 0;
  StepTokens step_tokens;
  // Where the steps' time went: of the engine's thread, without what it waited, and of the device.
  double host_seconds = 0, device_seconds = 0;
};

class Engine {
 public:
  // Allocates the cache; fails, with the arithmetic, when it does not fit.
  static Result<std::unique_ptr<Engine>> create(std::unique_ptr<Model> model,
                                                std::shared_ptr<Backend> backend,
                                                const EngineOptions& options);
  // Stops the thread; unfinished requests end as aborted.
  virtual ~Engine() = default;

  // Validates everything that depends on the model (lengths, token ids); errors name the field as
  // OpenAI's API spells it. On success the sink gets events until `finished` for each choice.
  virtual Result<RequestId> submit(Request request) = 0;
  // The rest of a request (choice -1) or one of its choices is not wanted; its blocks are free
  // within one step. Unknown or finished ids are ignored. Events may still arrive until
  // `finished` with reason aborted.
  virtual void cancel(RequestId id, int32_t choice = -1) = 0;
  // Refuses new requests and returns once all running ones have finished.
  virtual void drain() = 0;

  virtual EngineStats stats() const = 0;
  virtual const ModelInfo& model_info() const = 0;
  virtual int32_t max_model_len() const = 0;
  // False once a device fault made the engine unusable.
  virtual bool healthy() const = 0;
};

}  // namespace matador
