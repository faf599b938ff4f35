#include "engine/runner.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace matador {

namespace {

// A mask takes tens of microseconds, a step milliseconds; half the processors leaves some to the
// device's own host threads.
int num_mask_threads() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 1, 8);
}

std::vector<TokenMask*> masks_of(const Plan& plan) {
  std::vector<TokenMask*> masks;
  for (const Plan::Draw& draw : plan.draws) {
    if (draw.sequence->mask) masks.push_back(draw.sequence->mask.get());
  }
  return masks;
}

StepKey key_of(const Batch& batch) {
  return {static_cast<uint32_t>(batch.num_tokens()), static_cast<uint32_t>(batch.num_sequences())};
}

// Adds the time until stop, or its own end, to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(&sum) {}
  ~Stopwatch() { stop(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void stop() {
    if (sum_ == nullptr) return;
    *sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    sum_ = nullptr;
  }

 private:
  double* sum_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Runner::Runner(const Model& model, Backend& backend, const KvCache& cache)
    : model_(model),
      backend_(backend),
      cache_(cache),
      sampler_(model.info().vocab_size),
      mask_workers_(num_mask_threads()),
      device_draws_(model.info().vocab_size),
      asynchronous_(backend.info().asynchronous) {}

void Runner::launch(const Plan& plan) {
  MaskWorkers::Pending masks = mask_workers_.start(masks_of(plan));
  copy_blocks(plan);
  const Batch batch = prepare(plan);
  if (backend_.draws()) {
    masks.wait();
    return launch_drawing(plan, batch);
  }
  Stopwatch blocked(blocked_seconds_);
  backend_.plan(batch);
  Tensor logits;
  backend_.run(key_of(batch),
               [&](Ops& ops) { logits = model_.forward(ops, batch, cache_.layers()); });
  const auto rows = plan.num_rows > 0 ? backend_.to_host(logits) : std::span<const float>();
  blocked.stop();
  masks.wait();
  outputs_.push_back(sample(plan, rows));
  last_tokens_.clear();
  for (const Sampled& drawn : outputs_.back().draws) last_tokens_.push_back(drawn.token);
}

void Runner::launch_drawing(const Plan& plan, Batch batch) {
  batch.draws = device_draws_.prepare(plan);
  backend_.plan(batch);
  backend_.run(key_of(batch), [&](Ops& ops) {
    const Tensor logits = model_.forward(ops, batch, cache_.layers());
    if (!batch.draws.draws.empty()) ops.draw(logits, batch.draws);
  });
  device_draws_.launched(plan);
}

StepOutput Runner::collect() {
  if (backend_.draws()) {
    Stopwatch blocked(blocked_seconds_);
    return device_draws_.collect(backend_);
  }
  StepOutput output = std::move(outputs_.front());
  outputs_.pop_front();
  return output;
}

double Runner::device_seconds() const {
  return asynchronous_ ? backend_.busy_seconds() : blocked_seconds_;
}

void Runner::copy_blocks(const Plan& plan) {
  for (BlockCopy copy : plan.copies) {
    for (const KvLayer& layer : cache_.layers().layers) {
      auto* blocks = static_cast<std::byte*>(layer.blocks);
      backend_.copy(blocks + copy.to * layer.block_bytes, blocks + copy.from * layer.block_bytes,
                    static_cast<size_t>(layer.block_bytes));
    }
  }
}

Batch Runner::prepare(const Plan& plan) {
  for (auto* array : {&token_ids_, &positions_, &rope_lengths_, &slots_, &query_start_,
                      &context_lens_, &block_tables_, &logit_tokens_}) {
    array->clear();
  }
  size_t stride = 0;
  for (const Plan::Item& item : plan.items) {
    stride = std::max(stride, item.sequence->table.blocks.size());
  }
  query_start_.push_back(0);
  for (const Plan::Item& item : plan.items) add_item(item, static_cast<int32_t>(stride));
  return {.token_ids = token_ids_,
          .positions = positions_,
          .rope_lengths = rope_lengths_,
          .slots = slots_,
          .query_start = query_start_,
          .context_lens = context_lens_,
          .block_tables = block_tables_,
          .block_table_stride = static_cast<int32_t>(stride),
          .block_size = cache_.block_size(),
          .logit_tokens = logit_tokens_};
}

void Runner::add_item(const Plan::Item& item, int32_t table_stride) {
  const Sequence& sequence = *item.sequence;
  const std::vector<int32_t>& blocks = sequence.table.blocks;
  const int32_t block_size = cache_.block_size();
  for (int32_t position = item.begin; position < item.end(); ++position) {
    token_ids_.push_back(token_at(item, position));
    positions_.push_back(position);
    rope_lengths_.push_back(sequence.rope_length(position));
    slots_.push_back(blocks[position / block_size] * block_size + position % block_size);
  }
  auto num_tokens = static_cast<int32_t>(token_ids_.size());
  query_start_.push_back(num_tokens);
  context_lens_.push_back(item.end());
  block_tables_.insert(block_tables_.end(), blocks.begin(), blocks.end());
  block_tables_.resize(context_lens_.size() * static_cast<size_t>(table_stride), 0);
  for (int32_t row = 0; row < item.num_rows; ++row) {
    logit_tokens_.push_back(num_tokens - item.num_rows + row);
  }
}

// A draw that failed ends its sequence: what is computed for it meanwhile is of no use.
int32_t Runner::token_at(const Plan::Item& item, int32_t position) const {
  const std::vector<int32_t>& tokens = item.sequence->tokens;
  if (static_cast<size_t>(position) < tokens.size()) return tokens[position];
  if (backend_.draws()) return -1 - item.last_draw;
  return std::max(last_tokens_[item.last_draw], 0);
}

StepOutput Runner::sample(const Plan& plan, std::span<const float> logits) {
  StepOutput output;
  auto vocab_size = static_cast<size_t>(model_.info().vocab_size);
  auto row_at = [&](int32_t row) { return logits.subspan(row * vocab_size, vocab_size); };
  for (const Plan::Item& item : plan.items) {
    const Sequence& sequence = *item.sequence;
    int32_t first = item.end() - item.num_rows;
    for (int32_t i = 0; i < item.num_prompt_logprobs; ++i) {
      output.prompt_logprobs.push_back(sampler_.logprobs(row_at(item.first_row + i),
                                                         sequence.tokens[first + i + 1],
                                                         *sequence.params().prompt_logprobs));
    }
  }
  for (const Plan::Draw& draw : plan.draws) {
    const Sequence& sequence = *draw.sequence;
    const SequenceGroup& group = sequence.group;
    const TokenMask* mask = sequence.mask.get();
    if (mask != nullptr && !mask->error().empty()) {
      output.draws.push_back({.error = mask->error()});
      continue;
    }
    const std::vector<int32_t>& tokens =
        sequence.tokens.empty() ? group.request.prompt : sequence.tokens;
    SamplingContext context{.params = sequence.params(),
                            .processor = sequence.processor,
                            .tokens = tokens,
                            .mask = mask ? mask->bits() : std::span<const uint32_t>(),
                            .seed = group.seed,
                            .choice = sequence.choice,
                            .position = draw.position};
    output.draws.push_back(sampler_.sample(row_at(draw.row), context));
  }
  return output;
}

}  // namespace matador
