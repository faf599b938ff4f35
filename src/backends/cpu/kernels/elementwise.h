// Elementwise: the operations on rows of activations, 16 lanes at a time.
#pragma once

#include <cmath>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/math.h"

namespace matador::cpu {

template <class V>
struct Elementwise {
  using F = typename V::F;
  using M = Math<V>;

  // Calls step(offset, lanes) over [0, count); lanes is 16 but for the last.
  template <class Step>
  MATADOR_DEVICE static void sweep(int64_t count, Step step) {
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) step(i, 16);
    if (i < count) step(i, static_cast<int>(count - i));
  }
  MATADOR_DEVICE static F load(const float* p, int lanes) {
    return lanes == 16 ? V::load(p) : V::load(p, lanes);
  }
  MATADOR_DEVICE static void store(float* p, F x, int lanes) {
    if (lanes == 16) {
      V::store(p, x);
    } else {
      V::store(p, x, lanes);
    }
  }

  static void add(const float* x, const float* y, float scale, float* out, int64_t count) {
    sweep(count, [&](int64_t i, int n) {
      store(out + i, V::fma(load(y + i, n), V::set(scale), load(x + i, n)), n);
    });
  }

  static void multiply(const float* x, const float* y, float* out, int64_t count) {
    sweep(count,
          [&](int64_t i, int n) { store(out + i, V::mul(load(x + i, n), load(y + i, n)), n); });
  }

  template <Act kAct>
  static void activate_as(const float* x, float* out, int64_t count) {
    sweep(count,
          [&](int64_t i, int n) { store(out + i, M::template activate<kAct>(load(x + i, n)), n); });
  }
  static void activate(const float* x, Act act, float* out, int64_t count) {
    switch (act) {
      case Act::silu: return activate_as<Act::silu>(x, out, count);
      case Act::gelu: return activate_as<Act::gelu>(x, out, count);
      case Act::gelu_tanh: return activate_as<Act::gelu_tanh>(x, out, count);
      case Act::relu: return activate_as<Act::relu>(x, out, count);
      case Act::relu_squared: return activate_as<Act::relu_squared>(x, out, count);
      case Act::quick_gelu: return activate_as<Act::quick_gelu>(x, out, count);
    }
  }

  static void clamp(const float* x, float limit, float* out, int64_t count) {
    sweep(count, [&](int64_t i, int n) {
      store(out + i, V::min(V::max(load(x + i, n), V::set(-limit)), V::set(limit)), n);
    });
  }

  template <Act kAct>
  static void gated_as(const float* gate, const float* up, float* out, int64_t count) {
    sweep(count, [&](int64_t i, int n) {
      store(out + i, V::mul(M::template activate<kAct>(load(gate + i, n)), load(up + i, n)), n);
    });
  }
  static void gated(const float* gate, const float* up, Act act, float* out, int64_t count) {
    switch (act) {
      case Act::silu: return gated_as<Act::silu>(gate, up, out, count);
      case Act::gelu: return gated_as<Act::gelu>(gate, up, out, count);
      case Act::gelu_tanh: return gated_as<Act::gelu_tanh>(gate, up, out, count);
      case Act::relu: return gated_as<Act::relu>(gate, up, out, count);
      case Act::relu_squared: return gated_as<Act::relu_squared>(gate, up, out, count);
      case Act::quick_gelu: return gated_as<Act::quick_gelu>(gate, up, out, count);
    }
  }

  static void scale_logits(const float* x, float factor, float softcap, float* out, int64_t count) {
    sweep(count, [&](int64_t i, int n) {
      F value = load(x + i, n);
      if (softcap > 0) {
        value = V::mul(M::tanh(V::div(value, V::set(softcap))), V::set(softcap));
      }
      store(out + i, V::mul(value, V::set(factor)), n);
    });
  }

  static void norm(const float* x, const Norm& norm, const float* weight, const float* bias,
                   float* out, int64_t count) {
    F mean = V::set(0);
    if (norm.kind == Norm::Kind::layer) {
      F sum = V::set(0);
      sweep(count, [&](int64_t i, int n) { sum = V::add(sum, load(x + i, n)); });
      mean = V::set(V::sum(sum) / static_cast<float>(count));
    }
    F squares = V::set(0);
    sweep(count, [&](int64_t i, int n) {
      const F centred = V::select_range(0, n, V::sub(load(x + i, n), mean), V::set(0));
      squares = V::fma(centred, centred, squares);
    });
    const F scale = V::set(1 / std::sqrt(V::sum(squares) / static_cast<float>(count) + norm.eps));
    const F offset = V::set(norm.weight_offset);
    sweep(count, [&](int64_t i, int n) {
      F y = V::mul(V::sub(load(x + i, n), mean), scale);
      if (weight != nullptr) y = V::mul(y, V::add(load(weight + i, n), offset));
      if (bias != nullptr) y = V::add(y, load(bias + i, n));
      store(out + i, y, n);
    });
  }

  static void rope(float* x, const float* cosines, const float* sines, int32_t dim,
                   bool interleaved) {
    const int32_t half = dim / 2;
    if (interleaved) {
      for (int32_t i = 0; i < half; ++i) {
        const float a = x[2 * i];
        const float b = x[2 * i + 1];
        x[2 * i] = a * cosines[i] - b * sines[i];
        x[2 * i + 1] = b * cosines[i] + a * sines[i];
      }
      return;
    }
    sweep(half, [&](int64_t i, int n) {
      const F a = load(x + i, n);
      const F b = load(x + half + i, n);
      const F cosine = load(cosines + i, n);
      const F sine = load(sines + i, n);
      store(x + i, V::sub(V::mul(a, cosine), V::mul(b, sine)), n);
      store(x + half + i, V::add(V::mul(b, cosine), V::mul(a, sine)), n);
    });
  }

  static void narrow(const float* x, BFloat16* out, int64_t count) {
    sweep(count, [&](int64_t i, int n) {
      BFloat16 values[16];
      V::store(values, load(x + i, n));
      __builtin_memcpy(out + i, values, static_cast<size_t>(n) * sizeof(BFloat16));
    });
  }

  static void quantise(const float* x, int64_t row, const QuantisedRows& rows) {
    for (int64_t b = 0; b < rows.blocks(); ++b) {
      const F first = V::load(x + b * 32);
      const F second = V::load(x + b * 32 + 16);
      const float peak = V::highest(V::max(V::abs(first), V::abs(second)));
      const F inverse = V::set(peak > 0 ? 127 / peak : 0);
      const typename V::I low = V::to_int(V::mul(first, inverse));
      const typename V::I high = V::to_int(V::mul(second, inverse));
      const int64_t at = rows.index(row, b);
      int8_t* levels = rows.levels + at * kActivationBlock;
      V::store(levels, low);
      V::store(levels + 16, high);
      const int32_t low_sum = V::sum(low);
      const int32_t high_sum = V::sum(high);
      rows.scales[at] = peak / 127;
      rows.sums[at] = peak / 127 * static_cast<float>(low_sum + high_sum);
      rows.negated[at] = -(low_sum + high_sum);
      rows.negated_halves[2 * at] = -low_sum;
      rows.negated_halves[2 * at + 1] = -high_sum;
    }
  }
};

}  // namespace matador::cpu
