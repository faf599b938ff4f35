// Attention over the paged cache, with a running softmax (FlashAttention, arXiv 2205.14135).
//
// A block holds, for each key-value head, groups of up to 16 slots: the group's keys transposed,
// [head_dim][16], then its values, [16][value_dim padded to 16]. Keys are taken in tiles of four
// groups and tiles in spans of 512 slots; both begin at fixed positions of the sequence and spans
// are merged in order, so a query's result does not depend on what is computed beside it, nor on
// how spans are shared out between threads.
#pragma once

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/math.h"

namespace matador::cpu {

template <class V, class T>
struct AttendKernel {
  using F = typename V::F;
  using M = Math<V>;

  static constexpr float kLanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

  // A group of slots: where it lies and which keys it holds.
  struct Group {
    const T* keys;
    const T* values;
    int32_t position;  // of its first slot
    int32_t slots;
  };
  // Rows [begin, end) see some of the keys [first, limit) in these groups.
  struct Tile {
    Group groups[kTileGroups];
    int count = 0;
    int32_t begin = 0, end = 0;
    int32_t first = 0, limit = 0;
  };

  static Group group_at(const AttendJob& job, int32_t index) {
    const int32_t per_block = (job.block_size + 15) / 16;
    const int32_t block = index / per_block;
    const int32_t offset = index % per_block * 16;
    const int64_t group_values = int64_t{16} * (job.head_dim + padded_dim(job.value_dim));
    const T* base =
        reinterpret_cast<const T*>(job.blocks + job.block_table[block] * job.block_bytes) +
        index % per_block * group_values;
    const int32_t left = job.block_size - offset;
    return {base, base + 16 * job.head_dim, block * job.block_size + offset, left < 16 ? left : 16};
  }
  static int32_t last_key(const AttendJob& job, int32_t row) {
    return job.first_position + row / job.heads;
  }
  static int32_t first_key(const AttendJob& job, int32_t row) {
    return first_seen(job.window, job.chunk, last_key(job, row));
  }

  // The tile at group `index`, with no rows where no row sees it.
  static Tile tile_at(const AttendJob& job, int32_t index) {
    Tile tile;
    const int32_t last = last_key(job, job.rows - 1);
    for (; tile.count < kTileGroups; ++tile.count) {
      const int32_t per_block = (job.block_size + 15) / 16;
      const int32_t next = index + tile.count;
      if (next / per_block * job.block_size + next % per_block * 16 > last) break;
      tile.groups[tile.count] = group_at(job, next);
    }
    if (tile.count == 0) return tile;
    tile.first = tile.groups[0].position;
    const Group& final_group = tile.groups[tile.count - 1];
    tile.limit = final_group.position + final_group.slots;
    while (tile.begin < job.rows && last_key(job, tile.begin) < tile.first) ++tile.begin;
    tile.end = tile.begin;
    while (tile.end < job.rows && first_key(job, tile.end) < tile.limit) ++tile.end;
    return tile;
  }

  // scores[row][key] = q . k for kRows rows.
  template <int kRows>
  MATADOR_DEVICE static void score_rows(const AttendJob& job, const Tile& tile, int32_t row) {
    const float* q = job.q + int64_t{row} * job.head_dim;
    for (int g = 0; g < tile.count; g += V::kAttendVectors) {
      const T* keys[V::kAttendVectors];
#pragma GCC unroll 4
      for (int j = 0; j < V::kAttendVectors; ++j) {
        keys[j] = tile.groups[g + j < tile.count ? g + j : g].keys;
      }
      F sums[kRows][V::kAttendVectors];
#pragma GCC unroll 8
      for (auto& row_sums : sums) {
#pragma GCC unroll 4
        for (F& sum : row_sums) sum = V::set(0);
      }
      for (int32_t d = 0; d < job.head_dim; ++d) {
        F k[V::kAttendVectors];
#pragma GCC unroll 4
        for (int j = 0; j < V::kAttendVectors; ++j) k[j] = V::load(keys[j] + d * 16);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const F value = V::set(q[r * job.head_dim + d]);
#pragma GCC unroll 4
          for (int j = 0; j < V::kAttendVectors; ++j) sums[r][j] = V::fma(k[j], value, sums[r][j]);
        }
      }
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        float* scores = job.scores + int64_t{row + r} * kTileKeys + g * 16;
#pragma GCC unroll 4
        for (int j = 0; j < V::kAttendVectors; ++j) V::store(scores + j * 16, sums[r][j]);
      }
    }
  }

  // out[row] += scores[row] . values, for kRows rows and kVectors * 16 dimensions from `dim`.
  template <int kRows, int kVectors>
  MATADOR_DEVICE static void weigh_values(const AttendJob& job, const Tile& tile, int32_t row,
                                          int32_t dim) {
    const int32_t padded = padded_dim(job.value_dim);
    const int32_t last = last_key(job, row + kRows - 1);
    float* out = job.span_out + int64_t{row} * padded + dim;
    F sums[kRows][kVectors];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sums[r][j] = V::load(out + r * padded + j * 16);
    }
    for (int g = 0; g < tile.count; ++g) {
      const Group& group = tile.groups[g];
      const int32_t seen = last - group.position + 1;
      const int32_t slots = seen < group.slots ? seen : group.slots;
      const float* shares = job.scores + int64_t{row} * kTileKeys + g * 16;
      for (int32_t slot = 0; slot < slots; ++slot) {
        F v[kVectors];
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j)
          v[j] = V::load(group.values + slot * padded + dim + j * 16);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const F share = V::set(shares[r * kTileKeys + slot]);
#pragma GCC unroll 4
          for (int j = 0; j < kVectors; ++j) sums[r][j] = V::fma(v[j], share, sums[r][j]);
        }
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) V::store(out + r * padded + j * 16, sums[r][j]);
    }
  }

  template <int kRows>
  MATADOR_DEVICE static void weigh_rows(const AttendJob& job, const Tile& tile, int32_t row) {
    const int32_t padded = padded_dim(job.value_dim);
    int32_t dim = 0;
    for (; dim + V::kAttendVectors * 16 <= padded; dim += V::kAttendVectors * 16) {
      weigh_values<kRows, V::kAttendVectors>(job, tile, row, dim);
    }
    for (; dim < padded; dim += 16) weigh_values<kRows, 1>(job, tile, row, dim);
  }

  // Scores become exp(score - highest); the row's running sums are brought to the new highest.
  static void soften(const AttendJob& job, const Tile& tile, int32_t row) {
    float* scores = job.scores + int64_t{row} * kTileKeys;
    const int32_t first = first_key(job, row);
    const int32_t last = last_key(job, row);
    const F lowest = V::set(-__builtin_inff());
    F peak = lowest;
    for (int g = 0; g < tile.count; ++g) {
      const Group& group = tile.groups[g];
      F x = V::load(scores + g * 16);
      if (job.softcap > 0) {
        x = V::mul(M::tanh(V::div(x, V::set(job.softcap))), V::set(job.softcap));
      }
      if (job.slopes != nullptr) {
        const F distance =
            V::add(V::load(kLanes), V::set(static_cast<float>(group.position - last)));
        x = V::fma(distance, V::set(job.slopes[row % job.heads]), x);
      }
      int32_t begin = first - group.position;
      int32_t end = last - group.position + 1;
      begin = begin < 0 ? 0 : begin > 16 ? 16 : begin;
      end = end < 0 ? 0 : end > group.slots ? group.slots : end;
      x = V::select_range(begin, end, x, lowest);
      V::store(scores + g * 16, x);
      peak = V::max(peak, x);
    }
    const float old = job.span_highest[row];
    const float tile_highest = V::highest(peak);
    const float highest = tile_highest > old ? tile_highest : old;
    F sum = V::set(0);
    for (int g = 0; g < tile.count; ++g) {
      const F share = M::exp(V::sub(V::load(scores + g * 16), V::set(highest)));
      V::store(scores + g * 16, share);
      sum = V::add(sum, share);
    }
    float* out = job.span_out + int64_t{row} * padded_dim(job.value_dim);
    if (highest > old) rescale(job, out, old - highest, job.span_total[row]);
    job.span_total[row] += V::sum(sum);
    job.span_highest[row] = highest;
  }

  // A sum of shares and its values, times e^exponent.
  MATADOR_DEVICE static void rescale(const AttendJob& job, float* out, float exponent,
                                     float& total) {
    float factors[16];
    V::store(factors, M::exp(V::set(exponent)));
    total *= factors[0];
    const F factor = V::load(factors);
    for (int32_t d = 0; d < padded_dim(job.value_dim); d += 16) {
      V::store(out + d, V::mul(V::load(out + d), factor));
    }
  }

  template <int kMost, class Rows>
  MATADOR_DEVICE static void for_rows(int32_t begin, int32_t end, Rows rows) {
    for (; end - begin >= kMost; begin += kMost) rows.template operator()<kMost>(begin);
    if constexpr (kMost > 1) for_rows<kMost / 2>(begin, end, rows);
  }

  static void attend_tile(const AttendJob& job, const Tile& tile) {
    for_rows<V::kAttendRows>(tile.begin, tile.end,
                             [&]<int kRows>(int32_t row) { score_rows<kRows>(job, tile, row); });
    for (int32_t row = tile.begin; row < tile.end; ++row) soften(job, tile, row);
    for_rows<V::kAttendRows>(tile.begin, tile.end,
                             [&]<int kRows>(int32_t row) { weigh_rows<kRows>(job, tile, row); });
  }

  static void attend(const AttendJob& job) {
    const int32_t padded = padded_dim(job.value_dim);
    for (int32_t row = 0; row < job.rows; ++row) job.highest[row] = -__builtin_inff();
    for (int32_t span = job.span_begin; span < job.span_end; ++span) {
      for (int32_t row = 0; row < job.rows; ++row) {
        job.span_highest[row] = -__builtin_inff();
        job.span_total[row] = 0;
        for (int32_t d = 0; d < padded; d += 16) {
          V::store(job.span_out + int64_t{row} * padded + d, V::set(0));
        }
      }
      for (int32_t tile = 0; tile < kSpanTiles; ++tile) {
        const Tile keys = tile_at(job, (span * kSpanTiles + tile) * kTileGroups);
        if (keys.begin < keys.end) attend_tile(job, keys);
      }
      for (int32_t row = 0; row < job.rows; ++row) {
        merge(job, row, job.span_highest[row], job.span_total[row],
              job.span_out + int64_t{row} * padded);
      }
    }
  }

  static void merge(const AttendJob& into, int32_t row, float highest, float total,
                    const float* out) {
    if (highest == -__builtin_inff()) return;  // the span holds none of the row's keys
    const int32_t padded = padded_dim(into.value_dim);
    float* sums = into.out + int64_t{row} * padded;
    if (into.highest[row] == -__builtin_inff()) {
      into.highest[row] = highest;
      into.total[row] = total;
      for (int32_t d = 0; d < padded; d += 16) V::store(sums + d, V::load(out + d));
      return;
    }
    const float old = into.highest[row];
    const float peak = highest > old ? highest : old;
    float factors[2][16];
    V::store(factors[0], M::exp(V::set(old - peak)));
    V::store(factors[1], M::exp(V::set(highest - peak)));
    into.highest[row] = peak;
    into.total[row] = into.total[row] * factors[0][0] + total * factors[1][0];
    for (int32_t d = 0; d < padded; d += 16) {
      const F scaled = V::mul(V::load(out + d), V::load(factors[1]));
      V::store(sums + d, V::fma(V::load(sums + d), V::load(factors[0]), scaled));
    }
  }

  static void store(const float* k, const float* v, const KvLayer& kv, std::byte* group,
                    int32_t slot) {
    T* keys = reinterpret_cast<T*>(group);
    T* values = keys + 16 * kv.head_dim + int64_t{slot} * padded_dim(kv.value_dim());
    for (int32_t d = 0; d < kv.head_dim; d += 16) {
      const int32_t lanes = kv.head_dim - d < 16 ? kv.head_dim - d : 16;
      T narrow[16];
      V::store(narrow, V::load(k + d, lanes));
      for (int32_t i = 0; i < lanes; ++i) keys[(d + i) * 16 + slot] = narrow[i];
    }
    for (int32_t d = 0; d < kv.value_dim(); d += 16) {
      const int32_t lanes = kv.value_dim() - d < 16 ? kv.value_dim() - d : 16;
      V::store(values + d, V::load(v + d, lanes));
    }
  }
};

}  // namespace matador::cpu
