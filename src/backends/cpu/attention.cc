#include "backends/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace matador::cpu {
namespace {

constexpr int32_t kRowsPerItem = 48;    // query rows whose scores and sums stay in the cache
constexpr int32_t kItemsPerThread = 2;  // fewer leave threads idle

int32_t groups_per_block(const KvLayer& kv) { return (kv.block_size + 15) / 16; }

// Where a key-value head begins in a block.
int64_t head_offset(const KvLayer& kv, int32_t head) {
  return head * groups_per_block(kv) * group_bytes(kv);
}

// Some tokens of one sequence, for all of its heads, over some spans of its keys.
struct Piece {
  int32_t sequence;
  int32_t first_token, tokens;
  int32_t span_begin, span_end;

  int32_t spans() const { return span_end - span_begin; }
};

class Attention {
 public:
  Attention(const MatmulContext& context, const Tensor& q, const Attended& to, const Tensor& out)
      : context_(context),
        q_(q),
        kv_(to.kv),
        attend_(to.attend),
        batch_(to.batch),
        sinks_(to.sinks),
        out_(out) {
    if (attend_.alibi_max == 0) return;
    for (int32_t head = 0; head < attend_.num_heads; ++head) {
      slopes_.push_back(alibi_slope(attend_, head));
    }
  }

  void run() {
    cut();
    scratch_ = allocate(scratch_floats() * context_.threads.threads());
    // Few queries over long contexts: the spans of one piece go to several threads.
    const auto items = static_cast<int64_t>(pieces_.size()) * kv_.num_kv_heads;
    const bool split = items < int64_t{kItemsPerThread} * context_.threads.threads() &&
                       std::any_of(pieces_.begin(), pieces_.end(),
                                   [](const Piece& piece) { return piece.spans() > 1; });
    return split ? run_split() : run_whole();
  }

 private:
  // What is known of some rows: sums of values [rows, padded value_dim], then each row's highest
  // score, then each row's sum of shares.
  struct Partial {
    float* out;
    float* highest;
    float* total;
  };

  int32_t group() const { return attend_.num_heads / attend_.num_kv_heads; }
  int32_t tokens_per_piece() const { return std::max(1, kRowsPerItem / group()); }
  int64_t most_rows() const { return int64_t{tokens_per_piece()} * group(); }
  int64_t partial_floats() const { return most_rows() * (padded_dim(kv_.value_dim()) + 2); }
  int64_t scratch_floats() const {
    return 2 * partial_floats() + most_rows() * (kv_.head_dim + kTileKeys) + 16;
  }
  float* allocate(int64_t floats) const {
    return reinterpret_cast<float*>(
        context_.arena.allocate(static_cast<size_t>(floats) * sizeof(float)));
  }
  Partial partial_at(float* floats) const {
    float* highest = floats + most_rows() * padded_dim(kv_.value_dim());
    return {floats, highest, highest + most_rows()};
  }

  // Spans are counted in groups of slots.
  int32_t spans_until(int32_t position) const {
    const int32_t groups =
        position / kv_.block_size * groups_per_block(kv_) + position % kv_.block_size / 16 + 1;
    return (groups + kTileGroups * kSpanTiles - 1) / (kTileGroups * kSpanTiles);
  }

  void cut() {
    const int32_t step = tokens_per_piece();
    for (int32_t s = 0; s < batch_.num_sequences(); ++s) {
      const int32_t begin = batch_.query_start[static_cast<size_t>(s)];
      const int32_t end = batch_.query_start[static_cast<size_t>(s) + 1];
      for (int32_t token = begin; token < end; token += step) {
        const int32_t count = std::min(step, end - token);
        const int32_t last = batch_.positions[static_cast<size_t>(token + count - 1)];
        const int32_t first = batch_.positions[static_cast<size_t>(token)];
        const int32_t seen = first_seen(attend_.window, attend_.chunk, first);
        pieces_.push_back({s, token, count, spans_until(seen) - 1, spans_until(last)});
      }
    }
  }

  void run_whole() {
    const auto items = static_cast<int64_t>(pieces_.size()) * kv_.num_kv_heads;
    context_.threads.run(items, [&](int64_t item, int thread) {
      const Piece& piece = pieces_[static_cast<size_t>(item / kv_.num_kv_heads)];
      const auto head = static_cast<int32_t>(item % kv_.num_kv_heads);
      float* scratch = scratch_ + scratch_floats() * thread;
      const Partial result = partial_at(scratch);
      finish(attend_piece(piece, head, result, scratch + partial_floats()), piece, head);
    });
  }

  // Every span on its own, then merged in order: the same steps as run_whole's.
  void run_split() {
    int64_t spans = 0;
    for (const Piece& piece : pieces_) {
      for (int32_t i = 0; i < piece.spans(); ++i) owners_.emplace_back(&piece, i);
      spans += piece.spans();
    }
    float* partials = allocate(partial_floats() * spans * kv_.num_kv_heads);
    auto partial_of = [&](int64_t span, int32_t head) {
      return partial_at(partials + partial_floats() * (span * kv_.num_kv_heads + head));
    };
    context_.threads.run(spans * kv_.num_kv_heads, [&](int64_t item, int thread) {
      const auto [owner, offset] = owners_[static_cast<size_t>(item / kv_.num_kv_heads)];
      const auto head = static_cast<int32_t>(item % kv_.num_kv_heads);
      Piece piece = *owner;
      piece.span_begin += offset;
      piece.span_end = piece.span_begin + 1;
      attend_piece(piece, head, partial_of(item / kv_.num_kv_heads, head),
                   scratch_ + scratch_floats() * thread);
    });
    int64_t first = 0;
    for (const Piece& piece : pieces_) {
      for (int32_t head = 0; head < kv_.num_kv_heads; ++head) {
        const AttendJob whole = job_of(piece, head, partial_of(first, head));
        for (int32_t i = 1; i < piece.spans(); ++i) merge(partial_of(first + i, head), whole);
        finish(whole, piece, head);
      }
      first += piece.spans();
    }
  }

  void merge(const Partial& from, const AttendJob& into) const {
    for (int32_t row = 0; row < into.rows; ++row) {
      context_.kernels.merge(into, row, from.highest[row], from.total[row],
                             from.out + int64_t{row} * padded_dim(kv_.value_dim()));
    }
  }

  AttendJob job_of(const Piece& piece, int32_t head, const Partial& result) const {
    return {.blocks = static_cast<const std::byte*>(kv_.blocks) + head_offset(kv_, head),
            .block_bytes = kv_.block_bytes,
            .block_table =
                batch_.block_tables.data() + int64_t{piece.sequence} * batch_.block_table_stride,
            .block_size = kv_.block_size,
            .head_dim = kv_.head_dim,
            .value_dim = kv_.value_dim(),
            .softcap = attend_.softcap,
            .window = attend_.window,
            .chunk = attend_.chunk,
            .rows = piece.tokens * group(),
            .heads = group(),
            .first_position = batch_.positions[static_cast<size_t>(piece.first_token)],
            .span_begin = piece.span_begin,
            .span_end = piece.span_end,
            .slopes = slopes_.empty() ? nullptr : slopes_.data() + int64_t{head} * group(),
            .highest = result.highest,
            .total = result.total,
            .out = result.out};
  }

  AttendJob attend_piece(const Piece& piece, int32_t head, const Partial& result,
                         float* scratch) const {
    AttendJob job = job_of(piece, head, result);
    const Partial span = partial_at(scratch);
    job.span_out = span.out;
    job.span_highest = span.highest;
    job.span_total = span.total;
    job.scores = scratch + partial_floats();
    float* q = job.scores + most_rows() * kTileKeys;
    job.q = q;
    for (int32_t row = 0; row < job.rows; ++row) {
      const float* from = q_.row<const float>(piece.first_token + row / group()) +
                          (head * group() + row % group()) * kv_.head_dim;
      const float scale = score_scale(attend_, job.first_position + row / group());
      for (int32_t d = 0; d < kv_.head_dim; ++d) {
        q[int64_t{row} * kv_.head_dim + d] = from[d] * scale;
      }
    }
    context_.kernels.attend[static_cast<size_t>(kv_.type)](job);
    return job;
  }

  void finish(const AttendJob& job, const Piece& piece, int32_t head) const {
    for (int32_t row = 0; row < job.rows; ++row) {
      float* to = out_.row<float>(piece.first_token + row / group()) +
                  (head * group() + row % group()) * kv_.value_dim();
      const float* sums = job.out + int64_t{row} * padded_dim(kv_.value_dim());
      float total = job.total[row];
      if (sinks_ != nullptr) {
        total += std::exp(sinks_[head * group() + row % group()] - job.highest[row]);
      }
      const float inverse = 1 / total;
      for (int32_t d = 0; d < kv_.value_dim(); ++d) to[d] = sums[d] * inverse;
    }
  }

  const MatmulContext& context_;
  const Tensor& q_;
  const KvLayer& kv_;
  const Attend& attend_;
  const Batch& batch_;
  const float* sinks_;
  const Tensor& out_;
  std::vector<float> slopes_;  // of ALiBi, one a head; empty: none
  std::vector<Piece> pieces_;
  std::vector<std::pair<const Piece*, int32_t>> owners_;  // of each span: its piece and its place
  float* scratch_ = nullptr;                              // scratch_floats() a thread
};

}  // namespace

int64_t kv_block_bytes(const KvLayer& kv) { return head_offset(kv, kv.num_kv_heads); }

void store_kv(const MatmulContext& context, const KvLayer& kv, const Tensor& k, const Tensor& v,
              const Batch& batch) {
  const auto store = context.kernels.store_kv[static_cast<size_t>(kv.type)];
  for (int32_t t = 0; t < batch.num_tokens(); ++t) {
    const int32_t slot = batch.slots[static_cast<size_t>(t)];
    const int32_t offset = slot % kv.block_size;
    std::byte* block = static_cast<std::byte*>(kv.blocks) + slot / kv.block_size * kv.block_bytes;
    for (int32_t head = 0; head < kv.num_kv_heads; ++head) {
      std::byte* group = block + head_offset(kv, head) + offset / 16 * group_bytes(kv);
      const Tensor& values = kv.latent > 0 ? k : v;
      store(k.row<const float>(t) + head * kv.head_dim,
            values.row<const float>(t) + head * kv.head_dim, kv, group, offset % 16);
    }
  }
}

void attend(const MatmulContext& context, const Tensor& q, const Attended& to, const Tensor& out) {
  Attention(context, q, to, out).run();
}

}  // namespace matador::cpu
