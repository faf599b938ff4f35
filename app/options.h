// Options that several commands share, named as vLLM names them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/served_model.h"

namespace matador {

// Which model, and how it is computed.
struct ModelOptions {
  std::string model;
  DeviceOptions device;
  std::string dtype = "auto";
  std::string kv_cache_dtype = "auto";
};
void add_model(CLI::App& command, std::string& model);
void add_model_options(CLI::App& command, ModelOptions& options);
Precision precision_of(const ModelOptions& options);
std::optional<KvType> kv_type_of(const ModelOptions& options);

// How the engine batches and caches.
struct EngineFlags {
  int32_t max_model_len = 0;
  int32_t max_num_seqs = 256;
  int32_t max_num_batched_tokens = 0;
  uint64_t kv_cache_memory = 0;
  double gpu_memory_utilization = 0.9;
  bool prefix_caching = true;
  uint64_t seed = 0;
};
void add_engine_options(CLI::App& command, EngineFlags& flags);

// How tokens are chosen; what is not given stays as the model's own defaults have it.
struct SamplingFlags {
  std::optional<float> temperature, top_p, min_p, repetition_penalty;
  std::optional<int32_t> top_k;
  std::optional<uint64_t> seed;
};
void add_sampling_options(CLI::App& command, SamplingFlags& flags);
void apply(const SamplingFlags& flags, SamplingParams& params);

void add_tokens(CLI::App& command, std::vector<int32_t>& tokens);

// The library's options for them.
ServeOptions serve_options(const ModelOptions& model, const EngineFlags& engine);
// Loads, showing progress on stderr where that is a terminal.
Result<std::unique_ptr<ServedModel>> load(const ModelOptions& model, const EngineFlags& engine);

}  // namespace matador
