// DeviceBatch: a step's arrays on the device, brought there in one transfer.
//
// All arrays but the block tables, decode tasks, edits and masks lie at offsets that depend on the
// shape of the step only, so that a captured graph finds the next step's there; those are found
// through the header and the draws' offsets.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <list>
#include <vector>

#include "backends/backend.h"
#include "backends/cuda/kernels/kernels.h"
#include "backends/cuda/kernels/sample.h"
#include "backends/cuda/memory.h"

namespace matador::cuda {

// What a graph is captured for.
struct GraphKey {
  uint32_t tokens = 0, sequences = 0, logit_tokens = 0, draws = 0;
  auto operator<=>(const GraphKey&) const = default;
};

class DeviceBatch {
 public:
  DeviceBatch();
  ~DeviceBatch();
  DeviceBatch(const DeviceBatch&) = delete;
  DeviceBatch& operator=(const DeviceBatch&) = delete;

  // Starts the transfer. True where arrays have moved, so that graphs captured before are void.
  bool upload(const Batch& batch, cudaStream_t stream);

  const BatchArrays& arrays() const { return arrays_; }
  const DrawArrays& draws() const { return draws_; }
  // The arrays' own, which the last batch's draws complete.
  int32_t* token_ids() const { return device_.as<int32_t>() + token_ids_; }
  bool needs_drawn() const { return needs_drawn_; }
  GraphKey key() const { return key_; }
  // Every sequence has one token to compute.
  bool only_decodes() const { return key_.tokens == key_.sequences; }
  int32_t num_decode_tasks() const { return num_decode_tasks_; }
  // True where `rows` is the uploaded batch's logit_tokens.
  bool is_logit_tokens(std::span<const int32_t> rows) const;
  // The angle per position of each pair of `rope`: [dim / 2], or [num_tokens, dim / 2] where it
  // depends on the length. A rope's first use uploads it; later ones come with the batch.
  RopeAngles angles(const Rope& rope, const Batch& batch);

 private:
  struct KnownRope {
    Rope rope;
    DeviceMemory angles;      // from its first use; where it depends on the length, that step's
    size_t batch_offset = 0;  // of this step's angles, where they came with the batch
  };
  // Where an array of the step lies, in words.
  struct Offsets {
    size_t token_ids, positions, slots, query_start, context_lens, logit_tokens;
    size_t sequences, table_starts, task_starts;
    size_t draws, draw_offsets;
  };
  template <class T>
  size_t append(std::span<const T> values);
  Offsets append_arrays(const Batch& batch);
  void append_tables(const Batch& batch, const Offsets& offsets);
  void append_edits(const Batch& batch, const Offsets& offsets);
  bool send(cudaStream_t stream);
  void set_arrays(const Batch& batch, const Offsets& offsets);

  GraphKey key_;
  std::vector<int32_t> logit_tokens_;
  std::vector<int32_t> words_;  // what the device has
  std::list<KnownRope> ropes_;
  DeviceMemory device_;
  PinnedMemory pinned_;
  cudaEvent_t sent_ = nullptr;
  BatchArrays arrays_;
  DrawArrays draws_;
  size_t token_ids_ = 0;      // in words
  bool needs_drawn_ = false;  // a token is one of the last batch's draws
  int32_t num_decode_tasks_ = 0;
};

}  // namespace matador::cuda
