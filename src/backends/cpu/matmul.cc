#include "backends/cpu/matmul.h"

#include <algorithm>
#include <cstring>

namespace matador::cpu {
namespace {

constexpr uintptr_t kBlockAlignment = 8;    // at least that of any format's block
constexpr int64_t kCacheBytes = 512 << 10;  // of activations that a core's cache holds comfortably
constexpr int64_t kItemsPerThread = 8;

template <class T>
T* take(Arena& arena, int64_t count) {
  return reinterpret_cast<T*>(arena.allocate(static_cast<size_t>(count) * sizeof(T)));
}

bool takes_levels(const Weight& w) {
  const LoadedWeight& weight = loaded(w);
  return weight.packed && is_quantised(weight.packed->kind);
}

bool takes_narrow(const Kernels& kernels, const Weight& w) {
  const LoadedWeight& weight = loaded(w);
  return kernels.multiply_narrow != nullptr && w.precision == Precision::fast && weight.packed &&
         weight.packed->kind == StripKind::bf16;
}

// The segments in parts of at most `rows` rows.
std::vector<Segment> cut(std::span<const Segment> segments, int64_t rows) {
  std::vector<Segment> parts;
  for (const Segment& segment : segments) {
    for (int64_t begin = segment.begin; begin < segment.end; begin += rows) {
      parts.push_back({segment.matrix, begin, std::min(segment.end, begin + rows)});
    }
  }
  return parts;
}

// body(row) for every row of the segments, in parallel.
template <class Body>
void for_rows(const MatmulContext& context, std::span<const Segment> segments, int64_t cols,
              const Body& body) {
  const std::vector<Segment> parts = cut(segments, std::max<int64_t>(1, 16384 / cols));
  context.threads.run(static_cast<int64_t>(parts.size()), [&](int64_t item, int) {
    const Segment& part = parts[static_cast<size_t>(item)];
    for (int64_t row = part.begin; row < part.end; ++row) body(row);
  });
}

BFloat16* narrow(const MatmulContext& context, const Tensor& x, std::span<const Segment> segments) {
  const int64_t stride = padded_pairs(x.cols);
  BFloat16* rows = take<BFloat16>(context.arena, x.rows * stride);
  for_rows(context, segments, x.cols, [&](int64_t row) {
    BFloat16* out = rows + row * stride;
    out[stride - 1] = {};
    context.kernels.narrow(x.row<const float>(row), out, x.cols);
  });
  return rows;
}

QuantisedRows quantise(const MatmulContext& context, const Tensor& x,
                       std::span<const Segment> segments) {
  const int64_t padded = (x.rows + kRowGroup - 1) / kRowGroup * kRowGroup;
  const int64_t blocks = padded * (x.cols / kActivationBlock);
  QuantisedRows rows{.cols = x.cols,
                     .levels = take<int8_t>(context.arena, padded * x.cols),
                     .scales = take<float>(context.arena, blocks),
                     .sums = take<float>(context.arena, blocks),
                     .negated = take<int32_t>(context.arena, blocks),
                     .negated_halves = take<int32_t>(context.arena, 2 * blocks)};
  for_rows(context, segments, x.cols,
           [&](int64_t row) { context.kernels.quantise(x.row<const float>(row), row, rows); });
  return rows;
}

// The f32 form of a strip that has no packed one, made by a thread as it comes to it.
class StripDecoder {
 public:
  StripDecoder(const MatmulContext& context, int64_t cols) : cols_(cols) {
    const int64_t size = 2 * cols * kStripRows * context.threads.threads();
    scratch_ = take<float>(context.arena, size);
  }
  // `first` counts the rows of all matrices.
  const std::byte* decode(const Weight& w, int64_t first, int rows, int thread) const {
    float* lines = scratch_ + 2 * cols_ * kStripRows * thread;
    float* packed = lines + cols_ * kStripRows;
    decode_rows(w, first, rows, lines);
    for (int64_t col = 0; col < cols_; ++col) {
      for (int row = 0; row < kStripRows; ++row) {
        packed[col * kStripRows + row] = row < rows ? lines[row * cols_ + col] : 0;
      }
    }
    return reinterpret_cast<const std::byte*>(packed);
  }

 private:
  int64_t cols_;
  float* scratch_;
};

// One call of multiply: every weight's strips in a row, cut into items.
class Multiplication {
 public:
  Multiplication(const MatmulContext& context, const Tensor& x,
                 std::span<const Weight* const> weights, std::span<const Tensor> outs)
      : context_(context), x_(x), weights_(weights), outs_(outs) {}

  void run(std::span<const Segment> segments) {
    if (std::any_of(weights_.begin(), weights_.end(),
                    [](const Weight* w) { return takes_levels(*w); })) {
      levels_ = quantise(context_, x_, segments);
    }
    if (std::any_of(weights_.begin(), weights_.end(),
                    [this](const Weight* w) { return takes_narrow(context_.kernels, *w); })) {
      narrow_ = narrow(context_, x_, segments);
    }
    if (std::any_of(weights_.begin(), weights_.end(),
                    [](const Weight* w) { return !loaded(*w).packed; })) {
      decoder_.emplace(context_, x_.cols);
    }
    int64_t strips = 0;
    for (const Weight* w : weights_) strips += strips_of(*w);
    const int64_t row_bytes = x_.cols * (levels_.cols > 0 ? 1 : 4);
    // A strip that is decoded first is decoded once.
    const int64_t chunk =
        decoder_ ? x_.rows : std::max<int64_t>(48, kCacheBytes / row_bytes / 48 * 48);
    const std::vector<Segment> chunks = cut(segments, chunk);
    const int64_t grain =  // in pairs
        std::clamp<int64_t>(strips / (context_.threads.threads() * kItemsPerThread), 2, 64) / 2 * 2;
    const int64_t groups = (strips + grain - 1) / grain;
    const auto items = static_cast<int64_t>(chunks.size()) * groups;
    context_.threads.run(items, [&](int64_t item, int thread) {
      const int64_t strip = item % groups * grain;
      run_strips({strip, std::min(strips, strip + grain)},
                 chunks[static_cast<size_t>(item / groups)], thread);
    });
  }

 private:
  struct Range {
    int64_t begin, end;
  };

  static int64_t strips_of(const Weight& w) { return (w.rows + kStripRows - 1) / kStripRows; }

  // `strips` counts over all weights.
  void run_strips(Range strips, const Segment& tokens, int thread) {
    int64_t base = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      const int64_t count = strips_of(*weights_[i]);
      const int64_t begin = std::max<int64_t>(strips.begin - base, 0);
      const int64_t end = std::min(strips.end - base, count);
      if (begin < end) run_weight(i, {begin, end}, tokens, thread);
      base += count;
    }
  }

  void run_weight(size_t index, Range strips, const Segment& tokens, int thread) {
    const Weight& w = *weights_[index];
    const Tensor& out = outs_[index];
    const int64_t first = tokens.matrix * w.rows;  // of the matrix, among the rows of all
    StripJob job{.cols = w.cols,
                 .x = x_.row<const float>(0),
                 .x_stride = x_.stride,
                 .levels = &levels_,
                 .narrow = narrow_,
                 .begin = tokens.begin,
                 .end = tokens.end,
                 .out = out.row<float>(0) + strips.begin * kStripRows,
                 .out_stride = out.stride,
                 .bias = w.bias == nullptr ? nullptr : w.bias + first + strips.begin * kStripRows};
    if (const auto& packed = loaded(w).packed) {
      job.strips = packed->strip(tokens.matrix, strips.begin);
      job.strip_bytes = packed->strip_bytes;
      job.rows = std::min(w.rows, strips.end * kStripRows) - strips.begin * kStripRows;
      if (takes_narrow(context_.kernels, w)) return context_.kernels.multiply_narrow(job);
      return context_.kernels.strips[static_cast<size_t>(packed->kind)](job);
    }
    for (int64_t strip = strips.begin; strip < strips.end; ++strip) {
      job.rows = std::min<int64_t>(kStripRows, w.rows - strip * kStripRows);
      const int64_t row = first + strip * kStripRows;
      job.strips = decoder_->decode(w, row, static_cast<int>(job.rows), thread);
      context_.kernels.strips[static_cast<size_t>(StripKind::f32)](job);
      job.out += kStripRows;
      if (job.bias != nullptr) job.bias += kStripRows;
    }
  }

  const MatmulContext& context_;
  const Tensor& x_;
  std::span<const Weight* const> weights_;
  std::span<const Tensor> outs_;
  QuantisedRows levels_;
  BFloat16* narrow_ = nullptr;
  std::optional<StripDecoder> decoder_;
};

}  // namespace

void decode_rows(const Weight& w, int64_t first, int64_t count, float* out) {
  const int64_t row_bytes = w.row_bytes();
  std::vector<std::byte> copy;
  for (int64_t row = 0; row < count; ++row) {
    const std::byte* data = w.data + (first + row) * row_bytes;
    if (reinterpret_cast<uintptr_t>(data) % kBlockAlignment != 0) {
      copy.assign(data, data + row_bytes);
      data = copy.data();
    }
    w.format->decode(data, out + row * w.cols, w.cols);
  }
}

void multiply(const MatmulContext& context, const Tensor& x, std::span<const Weight* const> weights,
              std::span<const Tensor> outs, std::span<const Segment> segments) {
  if (!segments.empty()) Multiplication(context, x, weights, outs).run(segments);
}

void multiply(const MatmulContext& context, const Tensor& x, std::span<const Weight* const> weights,
              std::span<const Tensor> outs) {
  const Segment all{.end = x.rows};
  if (x.rows > 0) multiply(context, x, weights, outs, {&all, 1});
}

}  // namespace matador::cpu
