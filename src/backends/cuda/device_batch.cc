#include "backends/cuda/device_batch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "backends/cuda/error.h"

namespace matador::cuda {
namespace {

// [count, dim / 2], count being 1 where all tokens have the same.
std::vector<int32_t> angles_of(const Rope& rope, const Batch& batch) {
  std::vector<int32_t> words;
  const auto add = [&](int32_t length) {
    for (float angle : rope.frequencies(length)) words.push_back(std::bit_cast<int32_t>(angle));
  };
  if (!rope.depends_on_length()) {
    add(0);
    return words;
  }
  const size_t pairs = static_cast<size_t>(rope.dim / 2);
  for (size_t t = 0; t < batch.rope_lengths.size(); ++t) {
    const int32_t length = batch.rope_lengths[t];
    if (t > 0 && rope.length_class(length) == rope.length_class(batch.rope_lengths[t - 1])) {
      for (size_t i = 0; i < pairs; ++i) words.push_back(words[words.size() - pairs]);
    } else {
      add(length);
    }
  }
  return words;
}

}  // namespace

DeviceBatch::DeviceBatch() {
  check(cudaEventCreateWithFlags(&sent_, cudaEventDisableTiming), "cudaEventCreate");
}

DeviceBatch::~DeviceBatch() { cudaEventDestroy(sent_); }

// At a place where T is aligned.
template <class T>
size_t DeviceBatch::append(std::span<const T> values) {
  static_assert(sizeof(T) % sizeof(int32_t) == 0);
  constexpr size_t kAlign = alignof(T) / sizeof(int32_t);
  const size_t offset = (words_.size() + kAlign - 1) / kAlign * kAlign;
  words_.resize(offset + values.size_bytes() / sizeof(int32_t));
  if (!values.empty()) std::memcpy(words_.data() + offset, values.data(), values.size_bytes());
  return offset;
}

bool DeviceBatch::upload(const Batch& batch, cudaStream_t stream) {
  key_ = {static_cast<uint32_t>(batch.num_tokens()), static_cast<uint32_t>(batch.num_sequences()),
          static_cast<uint32_t>(batch.logit_tokens.size()),
          static_cast<uint32_t>(batch.draws.draws.size())};
  logit_tokens_.assign(batch.logit_tokens.begin(), batch.logit_tokens.end());
  words_.assign(sizeof(BatchHeader) / sizeof(int32_t), 0);
  const Offsets offsets = append_arrays(batch);
  append_tables(batch, offsets);
  append_edits(batch, offsets);
  const bool moved = send(stream);
  set_arrays(batch, offsets);
  return moved;
}

DeviceBatch::Offsets DeviceBatch::append_arrays(const Batch& batch) {
  Offsets offsets{};
  offsets.token_ids = append(batch.token_ids);
  offsets.positions = append(batch.positions);
  offsets.slots = append(batch.slots);
  offsets.query_start = append(batch.query_start);
  offsets.context_lens = append(batch.context_lens);
  offsets.logit_tokens = append(batch.logit_tokens);
  std::vector<int32_t> sequences;
  for (int32_t s = 0; s < batch.num_sequences(); ++s) {
    const int32_t end = batch.query_start[static_cast<size_t>(s) + 1];
    sequences.resize(static_cast<size_t>(end), s);
  }
  offsets.sequences = append<int32_t>(sequences);
  for (KnownRope& known : ropes_) {
    if (known.rope.depends_on_length())
      known.batch_offset = append<int32_t>(angles_of(known.rope, batch));
  }
  const std::vector<int32_t> room(static_cast<size_t>(batch.num_sequences()) + 1);
  offsets.table_starts = append<int32_t>(room);
  offsets.task_starts = append<int32_t>(room);
  offsets.draws = append(batch.draws.draws);
  offsets.draw_offsets = append<int32_t>(std::array<int32_t, 2>());
  return offsets;
}

// The block tables without their unused ends, and a task for each part of a decode's context.
void DeviceBatch::append_tables(const Batch& batch, const Offsets& offsets) {
  std::vector<DecodeTask> tasks;
  const size_t tables = words_.size();
  for (int32_t s = 0; s < batch.num_sequences(); ++s) {
    const size_t sequence = static_cast<size_t>(s);
    words_[offsets.table_starts + sequence] = static_cast<int32_t>(words_.size() - tables);
    words_[offsets.task_starts + sequence] = static_cast<int32_t>(tasks.size());
    const int32_t context = batch.context_lens[sequence];
    const int32_t blocks = (context + batch.block_size - 1) / batch.block_size;
    append<int32_t>(batch.block_tables.subspan(
        sequence * static_cast<size_t>(batch.block_table_stride), static_cast<size_t>(blocks)));
    if (batch.query_start[sequence + 1] - batch.query_start[sequence] > 1) continue;
    for (int32_t first = 0; first < context; first += kSplitTokens) tasks.push_back({s, first});
  }
  num_decode_tasks_ = static_cast<int32_t>(tasks.size());
  words_[offsets.task_starts + static_cast<size_t>(batch.num_sequences())] = num_decode_tasks_;
  const BatchHeader header{num_decode_tasks_, static_cast<int32_t>(tables),
                           static_cast<int32_t>(words_.size())};
  std::memcpy(words_.data(), &header, sizeof(header));
  append<DecodeTask>(tasks);
}

void DeviceBatch::append_edits(const Batch& batch, const Offsets& offsets) {
  const size_t edits = append(batch.draws.edits), masks = append(batch.draws.masks);
  words_[offsets.draw_offsets] = static_cast<int32_t>(edits);
  words_[offsets.draw_offsets + 1] = static_cast<int32_t>(masks);
}

bool DeviceBatch::send(cudaStream_t stream) {
  const size_t bytes = words_.size() * sizeof(int32_t);
  check(cudaEventSynchronize(sent_), "cudaEventSynchronize");  // the last step's transfer
  pinned_.reserve(bytes);
  const bool moved = device_.reserve(bytes);
  std::memcpy(pinned_.data(), words_.data(), bytes);
  check(cudaMemcpyAsync(device_.data(), pinned_.data(), bytes, cudaMemcpyHostToDevice, stream),
        "copying the batch");
  check(cudaEventRecord(sent_, stream), "cudaEventRecord");
  return moved;
}

void DeviceBatch::set_arrays(const Batch& batch, const Offsets& offsets) {
  const int32_t* base = device_.as<const int32_t>();
  arrays_.header = device_.as<const BatchHeader>();
  arrays_.token_ids = base + offsets.token_ids;
  arrays_.positions = base + offsets.positions;
  arrays_.slots = base + offsets.slots;
  arrays_.query_start = base + offsets.query_start;
  arrays_.context_lens = base + offsets.context_lens;
  arrays_.logit_tokens = base + offsets.logit_tokens;
  arrays_.sequences = base + offsets.sequences;
  arrays_.table_starts = base + offsets.table_starts;
  arrays_.task_starts = base + offsets.task_starts;
  token_ids_ = offsets.token_ids;
  needs_drawn_ = std::ranges::any_of(batch.token_ids, [](int32_t token) { return token < 0; });
  draws_.draws = reinterpret_cast<const TokenDraw*>(base + offsets.draws);
  draws_.words = base;
  draws_.offsets = base + offsets.draw_offsets;
  draws_.count = static_cast<int32_t>(batch.draws.draws.size());
  draws_.mask_words = batch.draws.mask_words;
  arrays_.num_tokens = batch.num_tokens();
  arrays_.num_sequences = batch.num_sequences();
}

bool DeviceBatch::is_logit_tokens(std::span<const int32_t> rows) const {
  return std::ranges::equal(rows, logit_tokens_);
}

RopeAngles DeviceBatch::angles(const Rope& rope, const Batch& batch) {
  auto known = std::ranges::find(ropes_, rope, &KnownRope::rope);
  if (known == ropes_.end()) {
    const std::vector<int32_t> words = angles_of(rope, batch);
    DeviceMemory memory(words.size() * sizeof(int32_t));
    check(cudaMemcpy(memory.data(), words.data(), memory.size(), cudaMemcpyHostToDevice),
          "copying rope frequencies");
    known = ropes_.insert(ropes_.end(), {rope, std::move(memory), 0});
  }
  const float* angles = known->batch_offset > 0 ? device_.as<const float>() + known->batch_offset
                                                : known->angles.as<const float>();
  return {angles, rope.depends_on_length() ? rope.dim / 2 : 0};
}

}  // namespace matador::cuda
