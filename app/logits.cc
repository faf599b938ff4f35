// matador logits: what the network itself says to every position of a prompt; no engine between.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <utility>

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
constexpr size_t kChunk = 256;  // tokens computed at once, which bounds the memory of their logits

// One sequence's way through a model, chunk after chunk, with a cache whose blocks lie in order.
class Pass {
 public:
  Pass(const Model& model, Backend& backend, KvType type, std::span<const int32_t> tokens)
      : model_(model),
        backend_(backend),
        tokens_(tokens),
        blocks_((tokens.size() + kBlockSize - 1) / kBlockSize),
        positions_(tokens.size()),
        rope_lengths_(tokens.size(), static_cast<int32_t>(tokens.size())) {
    std::iota(blocks_.begin(), blocks_.end(), 0);
    std::iota(positions_.begin(), positions_.end(), 0);
    cache_.layers = model.kv_layers(type, kBlockSize);
    for (KvLayer& layer : cache_.layers) {
      layer.num_blocks = static_cast<int32_t>(blocks_.size());
      layer.block_bytes = backend.kv_block_bytes(layer);
      buffers_.push_back(backend.allocate(layer.block_bytes * layer.num_blocks));
      layer.blocks = buffers_.back()->data();
    }
  }

  // The logits of tokens [begin, begin + count), row after row; valid until the next call.
  std::span<const float> compute(size_t begin, size_t count) {
    const std::array<int32_t, 2> query_start = {0, static_cast<int32_t>(count)};
    const std::array<int32_t, 1> context_lens = {static_cast<int32_t>(begin + count)};
    Batch batch;
    batch.token_ids = tokens_.subspan(begin, count);
    batch.positions = std::span(positions_).subspan(begin, count);
    batch.rope_lengths = std::span(rope_lengths_).subspan(begin, count);
    batch.slots = batch.positions;  // the blocks lie in order
    batch.query_start = query_start;
    batch.context_lens = context_lens;
    batch.block_tables = blocks_;
    batch.block_table_stride = static_cast<int32_t>(blocks_.size());
    batch.block_size = kBlockSize;
    batch.logit_tokens = std::span(positions_).first(count);  // 0, 1, ...: all
    Tensor logits;
    backend_.plan(batch);
    backend_.run({static_cast<uint32_t>(count), 1},
                 [&](Ops& ops) { logits = model_.forward(ops, batch, cache_); });
    return backend_.to_host(logits);
  }

 private:
  const Model& model_;
  Backend& backend_;
  std::span<const int32_t> tokens_;
  std::vector<int32_t> blocks_, positions_, rope_lengths_;
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

void print(std::span<const float> row, int32_t top) {
  top > 0 ? print_top(row, static_cast<size_t>(top)) : print_row(row);
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
  auto device = open_device(options.model.device);
  if (!device) return device.error();
  Backend& backend = **device;
  LoadOptions how;
  how.precision = precision_of(options.model);
  auto model = load_model(**checkpoint, backend, how);
  if (!model) return model.error();
  if (Status valid = check_tokens(options.tokens, (*model)->info()); !valid) return valid;

  const KvType kv_type = kv_type_of(options.model).value_or(backend.info().kv_type);
  Pass pass(**model, backend, kv_type, options.tokens);
  const auto vocab_size = static_cast<size_t>((*model)->info().vocab_size);
  const char* separator = options.top > 0 ? "{\"top_logits\": [" : "{\"logits\": [";
  for (size_t begin = 0; begin < options.tokens.size(); begin += kChunk) {
    const size_t count = std::min(kChunk, options.tokens.size() - begin);
    const std::span<const float> rows = pass.compute(begin, count);
    for (size_t i = 0; i < count; ++i) {
      std::fputs(std::exchange(separator, ",\n"), stdout);
      print(rows.subspan(i * vocab_size, vocab_size), options.top);
    }
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
