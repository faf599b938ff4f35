// Math: elementary functions on 16 lanes, the same code for every instruction set and for every
// operation that needs one.
#pragma once

#include "backends/params.h"
#include "core/device.h"

namespace matador::cpu {

template <class V>
struct Math {
  using F = typename V::F;

  // coefficients[0] + x * (coefficients[1] + ...)
  template <int kCount>
  MATADOR_DEVICE static F polynomial(F x, const float (&coefficients)[kCount]) {
    F result = V::set(coefficients[kCount - 1]);
    for (int i = kCount - 2; i >= 0; --i) result = V::fma(result, x, V::set(coefficients[i]));
    return result;
  }

  // Within 2 units in the last place; 0 below -87.3, where the result would be subnormal.
  MATADOR_DEVICE static F exp(F x) {
    constexpr float kLowest = -87.3F;
    constexpr float kHighest = 88.7F;  // above, infinity is near enough to 3.3e38
    constexpr float kTaylor[] = {1, 1, 0.5F, 1.0F / 6, 1.0F / 24, 1.0F / 120, 1.0F / 720};
    const F clamped = V::min(V::max(x, V::set(kLowest)), V::set(kHighest));
    const F n = V::min(V::nearest(V::mul(clamped, V::set(1.44269504F))), V::set(127));
    F rest = V::fma(n, V::set(-0.693359375F), clamped);  // ln 2 in two parts
    rest = V::fma(n, V::set(2.12194440e-4F), rest);
    const F value = V::scale_by_power(polynomial(rest, kTaylor), n);
    return V::select_less(x, V::set(kLowest), V::set(0), value);
  }

  MATADOR_DEVICE static F tanh(F x) {
    constexpr float kOdd[] = {-0.333332819F, 0.133314422F, -0.0537397262F, 0.0206390887F,
                              -5.70498872e-3F};  // Cephes, for small x
    const F magnitude = V::abs(x);
    const F square = V::mul(x, x);
    const F small = V::fma(V::mul(x, square), polynomial(square, kOdd), x);
    const F e = exp(V::mul(magnitude, V::set(2)));
    const F large = V::sub(V::set(1), V::div(V::set(2), V::add(e, V::set(1))));
    return V::select_less(magnitude, V::set(0.625F), small, V::copysign(large, x));
  }

  // Abramowitz and Stegun 7.1.26: within 1.5e-7.
  MATADOR_DEVICE static F erf(F x) {
    constexpr float kTerms[] = {0.254829592F, -0.284496736F, 1.421413741F, -1.453152027F,
                                1.061405429F};
    const F magnitude = V::abs(x);
    const F t = V::div(V::set(1), V::fma(magnitude, V::set(0.3275911F), V::set(1)));
    const F tail = V::mul(V::mul(polynomial(t, kTerms), t),
                          exp(V::sub(V::set(0), V::mul(magnitude, magnitude))));
    return V::copysign(V::sub(V::set(1), tail), x);
  }

  template <Act kAct>
  MATADOR_DEVICE static F activate(F x) {
    if constexpr (kAct == Act::silu) {
      return V::div(x, V::add(V::set(1), exp(V::sub(V::set(0), x))));
    } else if constexpr (kAct == Act::relu) {
      return V::max(x, V::set(0));
    } else if constexpr (kAct == Act::relu_squared) {
      const F positive = V::max(x, V::set(0));
      return V::mul(positive, positive);
    } else if constexpr (kAct == Act::quick_gelu) {
      return V::div(x, V::add(V::set(1), exp(V::mul(x, V::set(-1.702F)))));
    } else if constexpr (kAct == Act::gelu) {
      const F half = V::mul(x, V::set(0.5F));
      return V::fma(half, erf(V::mul(x, V::set(0.707106781F))), half);
    } else {
      const F cube = V::mul(V::mul(x, x), x);
      const F inner = V::mul(V::fma(cube, V::set(0.044715F), x), V::set(0.797884561F));
      const F half = V::mul(x, V::set(0.5F));
      return V::fma(half, tanh(inner), half);
    }
  }
};

}  // namespace matador::cpu
