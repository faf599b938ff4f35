// matador logits: what the network itself says to every position of a prompt; no engine between.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>

#include "backends/cpu/cpu.h"
#include "command.h"
#include "options.h"

namespace matador {

namespace {

struct LogitsOptions {
  ModelOptions model;
  std::vector<int32_t> tokens;
  int32_t top = 0;
};

constexpr int32_t kBlockSize = 16;
constexpr int32_t kChunk = 256;  // tokens computed at once, which bounds the memory of their logits

// A cache for one sequence whose blocks lie in order.
class SequenceCache {
 public:
  SequenceCache(const Model& model, Backend& backend, KvType type, int32_t num_tokens)
      : blocks_((num_tokens + kBlockSize - 1) / kBlockSize) {
    std::iota(blocks_.begin(), blocks_.end(), 0);
    cache_.layers = model.kv_layers(type, kBlockSize);
    for (KvLayer& layer : cache_.layers) {
      layer.num_blocks = static_cast<int32_t>(blocks_.size());
      layer.block_bytes = backend.kv_block_bytes(layer);
      buffers_.push_back(backend.allocate(layer.block_bytes * layer.num_blocks));
      layer.blocks = buffers_.back()->data();
    }
  }
  const Cache& cache() const { return cache_; }
  const std::vector<int32_t>& blocks() const { return blocks_; }

 private:
  std::vector<int32_t> blocks_;
  Cache cache_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

void print_row(std::span<const float> row) {
  std::string text = "[";
  char number[32];
  for (float value : row) {
    auto [end, error] = std::to_chars(number, number + sizeof number, value);
    text.append(number, end).push_back(',');
  }
  text.back() = ']';
  std::fputs(text.c_str(), stdout);
}

// The `count` largest, largest first, as [[token, logit], ...].
void print_top(std::span<const float> row, size_t count) {
  std::vector<int32_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](int32_t a, int32_t b) { return row[a] > row[b]; });
  for (size_t i = 0; i < count; ++i) {
    std::printf("%s[%d,%.9g]", i == 0 ? "[" : ",", order[i], static_cast<double>(row[order[i]]));
  }
  std::fputs("]", stdout);
}

// Computes tokens [begin, end) of `tokens` and hands each one's logits to `use`.
template <class Use>
void compute_chunk(const Model& model, Backend& backend, const SequenceCache& cache,
                   std::span<const int32_t> tokens, int32_t begin, int32_t end, const Use& use) {
  const auto count = static_cast<size_t>(end - begin);
  std::vector<int32_t> positions(count), rows(count);
  std::iota(positions.begin(), positions.end(), begin);
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<int32_t> rope_lengths(count, static_cast<int32_t>(tokens.size()));
  const std::vector<int32_t> query_start = {0, static_cast<int32_t>(count)};
  const std::vector<int32_t> context = {end};
  Batch batch;
  batch.token_ids = tokens.subspan(begin, count);
  batch.positions = positions;
  batch.rope_lengths = rope_lengths;
  batch.slots = positions;  // the blocks lie in order
  batch.query_start = query_start;
  batch.context_lens = context;
  batch.block_tables = cache.blocks();
  batch.block_table_stride = static_cast<int32_t>(cache.blocks().size());
  batch.block_size = kBlockSize;
  batch.logit_tokens = rows;
  Tensor logits;
  backend.plan(batch);
  backend.run({static_cast<uint32_t>(count), 1},
              [&](Ops& ops) { logits = model.forward(ops, batch, cache.cache()); });
  std::span<const float> values = backend.to_host(logits);
  for (size_t i = 0; i < count; ++i) use(values.subspan(i * logits.cols, logits.cols));
}

Status check_tokens(const std::vector<int32_t>& tokens, const ModelInfo& info) {
  if (static_cast<int64_t>(tokens.size()) > info.max_position) {
    return invalid_argument("--tokens: " + std::to_string(tokens.size()) +
                            " tokens; the model was made for at most " +
                            std::to_string(info.max_position));
  }
  for (int32_t token : tokens) {
    if (token >= 0 && token < info.vocab_size) continue;
    return invalid_argument("--tokens: " + std::to_string(token) + " is not in the vocabulary of " +
                            std::to_string(info.vocab_size));
  }
  return {};
}

Status logits(const LogitsOptions& options) {
  auto path = resolve_model(options.model.model);
  if (!path) return path.error();
  auto checkpoint = open_checkpoint(*path);
  if (!checkpoint) return checkpoint.error();
  CpuOptions cpu;
  cpu.threads = options.model.threads;
  auto backend = make_cpu_backend(cpu);
  LoadOptions how;
  how.precision = precision_of(options.model);
  auto model = load_model(**checkpoint, *backend, how);
  if (!model) return model.error();
  if (Status valid = check_tokens(options.tokens, (*model)->info()); !valid) return valid;

  const auto total = static_cast<int32_t>(options.tokens.size());
  SequenceCache cache(**model, *backend, kv_type_of(options.model), total);
  const char* separator = options.top > 0 ? "{\"top_logits\": [" : "{\"logits\": [";
  auto print = [&](std::span<const float> row) {
    std::fputs(separator, stdout);
    separator = ",\n";
    options.top > 0 ? print_top(row, options.top) : print_row(row);
  };
  for (int32_t begin = 0; begin < total; begin += kChunk) {
    compute_chunk(**model, *backend, cache, options.tokens, begin, std::min(begin + kChunk, total),
                  print);
  }
  std::puts("]}");
  return {};
}

}  // namespace

void add_logits(CLI::App& app, Action& chosen) {
  auto [command, options] = add_command(
      app, chosen, "logits",
      "Print {\"logits\": [[...], ...]}, one row for each token, in full precision", logits);
  add_model_options(*command, options->model);
  add_tokens(*command, options->tokens);
  command
      ->add_option("--top", options->top,
                   "Print only the largest ones of each row: {\"top_logits\": [[[token, logit], "
                   "...], ...]}")
      ->check(CLI::PositiveNumber);
}

}  // namespace matador
