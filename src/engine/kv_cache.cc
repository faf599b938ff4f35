#include "engine/kv_cache.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <sstream>
#include <string>

namespace matador {

namespace {

constexpr int64_t kModerateContext = 1024;  // tokens a running sequence is expected to have
constexpr double kShareOfFreeMemory = 0.4;  // the weights' pages and the rest of the machine

std::string mebibytes(uint64_t bytes) {
  std::ostringstream text;
  text.precision(1);
  text << std::fixed << static_cast<double>(bytes) / (1 << 20) << " MiB";
  return text.str();
}

// The longest context asked for: the option, or the model's own.
Result<int32_t> wanted_length(const Model& model, const EngineOptions& options) {
  int32_t made_for = model.info().max_position;
  if (options.max_model_len < 0) {
    return invalid_argument("max_model_len: " + std::to_string(options.max_model_len) +
                            " is negative");
  }
  if (options.max_model_len == 0) return made_for;
  // Frequencies that depend on the length go on beyond it.
  if (options.max_model_len > made_for && !model.info().state_depends_on_length) {
    return invalid_argument("max_model_len: " + std::to_string(options.max_model_len) +
                            " is beyond the " + std::to_string(made_for) +
                            " positions that the model was made for");
  }
  return options.max_model_len;
}

Error does_not_fit(int64_t length, int64_t blocks, int64_t block_bytes, uint64_t available) {
  return {ErrorCode::out_of_memory,
          "one sequence of " + std::to_string(length) + " tokens needs " + std::to_string(blocks) +
              " cache blocks of " + std::to_string(block_bytes) + " bytes, " +
              mebibytes(static_cast<uint64_t>(blocks * block_bytes)) + ", but the KV cache has " +
              mebibytes(available) + ", " + std::to_string(available / block_bytes) +
              " blocks: lower max_model_len or raise the KV cache's memory"};
}

// Bytes that the cache may take where nobody said how many.
Result<uint64_t> available_bytes(const DeviceInfo& device, const EngineOptions& options) {
  if (!device.own_memory) return static_cast<uint64_t>(kShareOfFreeMemory * device.memory_free);
  const double share = options.gpu_memory_utilization;
  const uint64_t used = device.memory_total - device.memory_free;
  const auto usable = static_cast<uint64_t>(share * static_cast<double>(device.memory_total));
  if (usable > used) return usable - used;
  std::ostringstream text;
  text << device.name << " has " << mebibytes(device.memory_total) << ", of which "
       << "gpu_memory_utilization " << share << " allows " << mebibytes(usable)
       << ", but the weights and whatever else is there use " << mebibytes(used)
       << ": nothing is left for the KV cache";
  return Error{ErrorCode::out_of_memory, text.str()};
}

// Blocks that are enough for a machine whose memory others use too.
int64_t moderate_blocks(int64_t blocks_of_one, const EngineOptions& options) {
  const int64_t sequences = options.max_num_seqs;
  return std::max(2 * blocks_of_one, sequences * kModerateContext / options.block_size);
}

}  // namespace

Result<KvCache> KvCache::create(const Model& model, Backend& backend,
                                const EngineOptions& options) {
  Result<int32_t> wanted = wanted_length(model, options);
  if (!wanted) return wanted.error();
  const DeviceInfo device = backend.info();
  KvCache cache;
  const int64_t block_size = cache.block_size_ = options.block_size;
  cache.layers_.layers =
      model.kv_layers(options.kv_type.value_or(device.kv_type), options.block_size);
  int64_t block_bytes = 0;
  for (KvLayer& layer : cache.layers_.layers) {
    block_bytes += layer.block_bytes = backend.kv_block_bytes(layer);
  }
  block_bytes = std::max<int64_t>(block_bytes, 1);

  const int64_t blocks_of_one = (*wanted + block_size - 1) / block_size;
  const Result<uint64_t> available = options.kv_cache_bytes > 0
                                         ? Result<uint64_t>(options.kv_cache_bytes)
                                         : available_bytes(device, options);
  if (!available) return available.error();
  int64_t num_blocks = static_cast<int64_t>(*available) / block_bytes;
  if (options.kv_cache_bytes == 0 && !device.own_memory) {
    num_blocks = std::min(num_blocks, moderate_blocks(blocks_of_one, options));
  }
  // Slots are numbered in 32 bits.
  num_blocks = std::min(num_blocks, std::numeric_limits<int32_t>::max() / block_size);
  if (num_blocks < 1 || (options.max_model_len > 0 && num_blocks < blocks_of_one)) {
    return does_not_fit(*wanted, blocks_of_one, block_bytes, *available);
  }
  cache.num_blocks_ = static_cast<int32_t>(num_blocks);
  cache.max_model_len_ = static_cast<int32_t>(std::min<int64_t>(*wanted, num_blocks * block_size));

  try {
    for (KvLayer& layer : cache.layers_.layers) {
      layer.num_blocks = cache.num_blocks_;
      cache.buffers_.push_back(backend.allocate(num_blocks * layer.block_bytes));
      layer.blocks = cache.buffers_.back()->data();
    }
  } catch (const std::exception& fault) {
    return Error{ErrorCode::out_of_memory, "allocating " + std::to_string(num_blocks) +
                                               " cache blocks of " + std::to_string(block_bytes) +
                                               " bytes: " + fault.what()};
  }
  return cache;
}

}  // namespace matador
