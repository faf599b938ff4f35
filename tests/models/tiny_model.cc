#include "tiny_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace matador {
namespace {

constexpr int32_t kNumBlocks = 1021;  // a prime, so that any stride visits all
constexpr int32_t kBlockStride = 389;

std::string data_path(const std::string& name) {
  return std::string(MATADOR_TEST_DATA) + "/models/" + name;
}

// The arrays behind a Batch.
struct BatchArrays {
  std::vector<int32_t> token_ids, positions, rope_lengths, slots, logit_tokens;
  std::vector<int32_t> query_start{0}, context_lens, block_tables;
  int32_t stride = 0;

  void add(const Chunk& chunk) {
    const auto end = chunk.start + static_cast<int32_t>(chunk.tokens.size());
    for (int32_t position = chunk.start; position < end; ++position) {
      if (chunk.wants_logits) logit_tokens.push_back(static_cast<int32_t>(token_ids.size()));
      token_ids.push_back(chunk.tokens[static_cast<size_t>(position - chunk.start)]);
      positions.push_back(position);
      rope_lengths.push_back(chunk.rope_length > 0 ? chunk.rope_length : end);
      const int32_t block = chunk.blocks[static_cast<size_t>(position / TinyModel::kBlockSize)];
      slots.push_back(block * TinyModel::kBlockSize + position % TinyModel::kBlockSize);
    }
    query_start.push_back(static_cast<int32_t>(token_ids.size()));
    context_lens.push_back(end);
    std::vector<int32_t> row = chunk.blocks;
    row.resize(static_cast<size_t>(stride), -1);
    block_tables.insert(block_tables.end(), row.begin(), row.end());
  }

  Batch view() const {
    Batch batch;
    batch.token_ids = token_ids;
    batch.positions = positions;
    batch.rope_lengths = rope_lengths;
    batch.slots = slots;
    batch.query_start = query_start;
    batch.context_lens = context_lens;
    batch.block_tables = block_tables;
    batch.block_table_stride = stride;
    batch.block_size = TinyModel::kBlockSize;
    batch.logit_tokens = logit_tokens;
    return batch;
  }
};

}  // namespace

std::vector<std::string> tiny_model_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(data_path(""))) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> tiny_gguf_names() {
  std::vector<std::string> names;
  for (const std::string& name : tiny_model_names()) {
    const std::string path = name + "/model.gguf";
    if (std::filesystem::exists(data_path(path))) names.push_back(path);
  }
  return names;
}

std::string test_name(std::string path) {
  for (char& c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return path;
}

std::vector<Golden> read_golden(const std::string& path) {
  const std::string name = path.substr(0, path.find('/'));
  std::ifstream json_file(data_path(name) + "/golden.json");
  const nlohmann::json json = nlohmann::json::parse(json_file);
  std::ifstream rows(data_path(name) + "/golden.f32", std::ios::binary);
  const size_t vocab_size = json["vocab_size"];
  std::vector<Golden> result;
  for (const nlohmann::json& prompt : json["prompts"]) {
    Golden golden;
    golden.tokens = prompt["tokens"].get<std::vector<int32_t>>();
    golden.greedy = prompt["greedy"].get<std::vector<int32_t>>();
    float lowest = std::numeric_limits<float>::max();
    float highest = std::numeric_limits<float>::lowest();
    for (size_t i = 0; i < golden.tokens.size(); ++i) {
      std::vector<float> row(vocab_size);
      rows.read(reinterpret_cast<char*>(row.data()),
                static_cast<std::streamsize>(vocab_size * sizeof(float)));
      lowest = std::min(lowest, *std::min_element(row.begin(), row.end()));
      highest = std::max(highest, *std::max_element(row.begin(), row.end()));
      golden.logits.push_back(std::move(row));
    }
    golden.spread = highest - lowest;
    result.push_back(std::move(golden));
  }
  EXPECT_TRUE(rows.good()) << name << "/golden.f32 is shorter than golden.json says";
  return result;
}

TinyModel::TinyModel(const std::string& path, std::shared_ptr<Backend> backend)
    : backend_(std::move(backend)) {
  Result<std::unique_ptr<Checkpoint>> checkpoint = open_checkpoint(data_path(path));
  if (!checkpoint) throw std::runtime_error(checkpoint.error().message);
  checkpoint_ = std::move(*checkpoint);
  LoadOptions options;
  options.precision = Precision::exact;
  Result<std::unique_ptr<Model>> model = load_model(*checkpoint_, *backend_, options);
  if (!model) throw std::runtime_error(model.error().message);
  model_ = std::move(*model);
  for (KvLayer layer : model_->kv_layers(KvType::f32, kBlockSize)) {
    layer.num_blocks = kNumBlocks;
    layer.block_bytes = backend_->kv_block_bytes(layer);
    buffers_.push_back(backend_->allocate(static_cast<size_t>(layer.block_bytes * kNumBlocks)));
    layer.blocks = buffers_.back()->data();
    cache_.layers.push_back(layer);
  }
}

std::vector<int32_t> TinyModel::new_blocks(size_t tokens) {
  std::vector<int32_t> blocks;
  for (size_t i = 0; i < tokens; i += kBlockSize) {
    blocks.push_back(used_blocks_++ * kBlockStride % kNumBlocks);
  }
  return blocks;
}

Rows TinyModel::step(const std::vector<Chunk>& chunks) {
  BatchArrays arrays;
  for (const Chunk& chunk : chunks) {
    arrays.stride = std::max(arrays.stride, static_cast<int32_t>(chunk.blocks.size()));
  }
  for (const Chunk& chunk : chunks) arrays.add(chunk);
  const Batch batch = arrays.view();
  Tensor logits;
  backend_->plan(batch);
  backend_->run({static_cast<uint32_t>(batch.num_tokens()), static_cast<uint32_t>(chunks.size())},
                [&](Ops& ops) { logits = model_->forward(ops, batch, cache_); });
  const std::span<const float> values = backend_->to_host(logits);
  Rows rows;
  const auto width = static_cast<size_t>(model_->info().vocab_size);
  for (size_t i = 0; i < values.size(); i += width) {
    rows.emplace_back(values.begin() + static_cast<ptrdiff_t>(i),
                      values.begin() + static_cast<ptrdiff_t>(i + width));
  }
  return rows;
}

Rows TinyModel::logits(const std::vector<int32_t>& tokens) {
  used_blocks_ = 0;
  return step({{.tokens = tokens, .blocks = new_blocks(tokens.size())}});
}

std::vector<int32_t> TinyModel::generate(const std::vector<int32_t>& prompt, size_t count) {
  used_blocks_ = 0;
  const std::vector<int32_t> blocks = new_blocks(prompt.size() + count);
  // Where the rotation depends on the length, a longer sequence is another one from the start on.
  const bool afresh = model_->info().state_depends_on_length;
  std::vector<int32_t> tokens = prompt;
  size_t computed = 0;
  while (tokens.size() < prompt.size() + count) {
    const auto start = static_cast<ptrdiff_t>(afresh ? 0 : computed);
    const Rows rows = step({{.tokens = {tokens.begin() + start, tokens.end()},
                             .start = static_cast<int32_t>(start),
                             .blocks = blocks}});
    computed = tokens.size();
    const std::vector<float>& last = rows.back();
    tokens.push_back(
        static_cast<int32_t>(std::max_element(last.begin(), last.end()) - last.begin()));
  }
  return {tokens.begin() + static_cast<ptrdiff_t>(prompt.size()), tokens.end()};
}

}  // namespace matador
